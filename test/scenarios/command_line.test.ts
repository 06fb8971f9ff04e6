/* The real program, command by command, as a person types it. */
import assert from 'node:assert/strict'
import { readdirSync } from 'node:fs'
import { after, before, suite, test } from 'node:test'
import { openReadyPlace, type Ended, type Place, type Running } from '../support/program.ts'

const migrations = readdirSync(new URL('../../src/db/migrations/', import.meta.url))
const newest = Math.max(...migrations.map((name) => Number(name.slice(0, 4))))

const done = ({ code, stdout, stderr }: Ended, text: string): void =>
  assert.deepEqual({ code, stdout, stderr }, { code: 0, stdout: `${text}\n`, stderr: '' })
/** Refused: one line that says why, and nothing printed. */
const refused = ({ code, stdout, stderr }: Ended, line: string): void =>
  assert.deepEqual({ code, stdout, stderr }, { code: 1, stdout: '', stderr: `guildhall: ${line}\n` })

const words = (line: string): string[] => line.split(' ')
const TOKEN = /^glpat-[\w-]{32}$/

suite('beside a running server', () => {
  let place: Place
  let server: Running
  const run = (line: string): Promise<Ended> => place.run(words(line))
  before(async () => {
    place = await openReadyPlace()
    server = await place.serve()
  })
  after(() => place.clear())

  test('migrate says where the database is', async () => {
    done(await run('migrate'), `The database is at migration ${newest}.`)
    assert.deepEqual(await place.json(['migrate']), { version: newest })
  })

  test('a user is created once', async () => {
    const who = ['user', 'create', '--username', 'mira', '--name', 'Mira Okafor', '--email', 'mira@x.example']
    const made = await place.json(who)
    assert.deepEqual(made, {
      id: made['id'],
      username: 'mira',
      name: 'Mira Okafor',
      email: 'mira@x.example',
      admin: false,
    })
    refused(await place.run(who), '--username has already been taken')
    refused(
      await run('user create --username MIRA --name M --email m@x.example'),
      '--username has already been taken',
    )
    refused(
      await run('user create --username m --name M --email Mira@X.example'),
      '--email has already been taken',
    )
    const admin = await run('user create --username ada --name A --email ada@x.example --admin')
    assert.match(admin.stdout, /^Created user ada \(id \d+\)\.\n$/)
  })

  test('a token is shown once, with its scopes and its end', async () => {
    const { code, stdout, stderr } = await run('token create --user mira')
    assert.deepEqual([code, stderr], [0, ''])
    assert.match(stdout.trimEnd(), TOKEN)
    const made = await place.json(
      words('token create --user mira --name CI --scopes read_api,read_user --expires-at 2099-01-31'),
    )
    assert.match(String(made['token']), TOKEN)
    assert.deepEqual(
      { ...made, id: 0, token: '', user_id: 0 },
      {
        id: 0,
        token: '',
        user_id: 0,
        name: 'CI',
        scopes: ['read_api', 'read_user'],
        expires_at: '2099-01-31',
      },
    )
    refused(await run('token create --user nobody'), 'there is no user "nobody"')
  })

  test('groups are created one inside the other, none more visible than the one around it', async () => {
    const made = await place.json(words('group create --path harbour --name Harbour --visibility internal'))
    assert.deepEqual(made, { id: made['id'], full_path: 'harbour', visibility: 'internal' })
    assert.match(
      (await run('group create --path harbour/docks')).stdout,
      /^Created group harbour\/docks \(id \d+\)\.\n$/,
    )
    refused(await run('group create --path lake/docks'), 'there is no group "lake" to put it in')
    refused(await run('group create --path Harbour/Docks'), '--path has already been taken')
    refused(await run('group create --path mira'), '--path has already been taken')
    refused(await run('group create --path mira/docks'), 'a personal namespace holds no groups')
    refused(
      await run('group create --path harbour/open --visibility public'),
      '--visibility public is not allowed in harbour, which is internal',
    )
  })

  test('an empty project is created in a group, and a path is taken once', async () => {
    const made = await place.json(words('project create --path harbour/docks/crane --name Crane'))
    assert.deepEqual(made, {
      id: made['id'],
      full_path: 'harbour/docks/crane',
      visibility: 'private',
      default_branch: 'main',
    })
    refused(await run('project create --path harbour/docks/crane'), '--path has already been taken')
    refused(await run('group create --path harbour/docks/crane'), '--path has already been taken')
    refused(
      await run('project create --path harbour/lake/crane'),
      'there is no group "harbour/lake" to put it in',
    )
  })

  test('a member is given a role on a group or a project, until a day', async () => {
    done(
      await run('member add --group harbour --user mira --role Developer'),
      'mira now has role developer on harbour.',
    )
    const changed = await place.json(
      words('member add --group harbour --user mira --role 40 --expires-at 2099-12-31'),
    )
    assert.deepEqual(
      [changed['access_level'], changed['expires_at'], Object.keys(changed)],
      [40, '2099-12-31', ['user_id', 'access_level', 'expires_at', 'group_id']],
    )
    done(
      await run('member add --project harbour/docks/crane --user ada --role reporter'),
      'ada now has role reporter on harbour/docks/crane.',
    )
    refused(await run('member add --group lake --user mira --role guest'), 'there is no group "lake"')
    refused(await run('member add --group mira --user ada --role guest'), 'there is no group "mira"')
    refused(
      await run('member add --project harbour/x --user mira --role guest'),
      'there is no project "harbour/x"',
    )
    refused(await run('member add --group harbour --user nobody --role guest'), 'there is no user "nobody"')
  })

  test('flags and settings are listed and changed', async () => {
    done(await run('feature disable admin_token_revoke'), 'admin_token_revoke is off.')
    done(
      await run('feature list'),
      'off  admin_token_revoke\non   product_analytics_features\non   generic_alert_fingerprinting\non   integrated_error_tracking',
    )
    assert.deepEqual(await place.json(words('feature enable admin_token_revoke')), {
      name: 'admin_token_revoke',
      enabled: true,
    })
    done(
      await run('setting set personal_access_token_prefix guild-'),
      'personal_access_token_prefix = guild-',
    )
    done(await run('setting get personal_access_token_prefix'), 'guild-')
    assert.match((await run('token create --user mira')).stdout, /^guild-/)
    const all = await place.json(words('setting list'))
    assert.equal(all['personal_access_token_prefix'], 'guild-')
    assert.equal(all['throttle_authenticated_api_enabled'], false)
    done(
      await run('setting set personal_access_token_prefix glpat-'),
      'personal_access_token_prefix = glpat-',
    )
  })

  test('records created by commands are served by the interface', async () => {
    const { token } = await place.json(words('token create --user mira'))
    const answer = await server.get('/api/v4/groups/harbour%2Fdocks', { 'private-token': String(token) })
    assert.equal(answer.status, 200)
    const { full_name, projects } = (await answer.json()) as {
      full_name: string
      projects: { name: string }[]
    }
    assert.equal(full_name, 'Harbour / docks')
    assert.deepEqual(
      projects.map(({ name }) => name),
      ['Crane'],
    )
  })
})

test('alone, each command brings the database up for itself, and the server finds what was made', async (t) => {
  const place = await openReadyPlace()
  t.after(() => place.clear())
  const run = (line: string): Promise<Ended> => place.run(words(line))
  done(
    await run('user create --username mira --name Mira --email mira@x.example'),
    'Created user mira (id 1).',
  )
  refused(
    await run('user create --username Mira --name Mira --email m@x.example'),
    '--username has already been taken',
  )
  assert.match((await run('group create --path harbour')).stdout, /^Created /)
  assert.match((await run('project create --path harbour/crane')).stdout, /^Created /)
  done(
    await run('member add --group harbour --user mira --role owner'),
    'mira now has role owner on harbour.',
  )
  done(await run('feature disable admin_token_revoke'), 'admin_token_revoke is off.')
  done(await run('setting set personal_access_token_prefix guild-'), 'personal_access_token_prefix = guild-')
  const { token } = await place.json(words('token create --user mira'))
  done(await run('migrate'), `The database is at migration ${newest}.`)
  const server = await place.serve()
  assert.match(String(server.told['root_token']), /^guild-/)
  const answer = await server.get('/api/v4/groups/harbour', { 'private-token': String(token) })
  const { projects } = (await answer.json()) as { projects: { name: string }[] }
  assert.deepEqual(
    projects.map(({ name }) => name),
    ['crane'],
  )
})
