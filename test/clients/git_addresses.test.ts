import assert from 'node:assert/strict'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import type { Project } from '../../src/db/schema/tables.ts'
import { openGitClient, type GitClient } from '../support/git_client.ts'
import { cloneMaker, freshPath, heard, remoteOf, tip, type MakeClone } from '../support/git_clones.ts'
import { scratch, writeHistory } from '../support/git_fixtures.ts'
import { rowsOf } from '../support/rows.ts'
import { openWorld, type World } from '../support/world.ts'

// Addresses that projects had before, and addresses that no project has yet.

let world: World
let client: GitClient
let clone: MakeClone
let source: string
before(async () => {
  world = await openWorld()
  client = await openGitClient(world)
  source = join(scratch(), 'source.git')
  writeHistory(source, 60, 5)
  clone = cloneMaker(world, client, source)
})
after(() => world.close())

const remark = (before: string, now: string): string[] => [
  '',
  `Project '${before}' was moved to '${now}'.`,
  '',
  'Please update your Git remote:',
  '',
  `  git remote set-url origin https://guild.example/${now}.git`,
  '',
]
const put = async (path: string, body: object): Promise<void> => {
  const answer = await world.call('PUT', path, { as: await world.make.admin(), body })
  assert.equal(answer.status, 200, answer.text)
}

test('a renamed project is pushed to and fetched from by its old address, with a remark', async () => {
  const one = await clone('developer')
  const before = one.project.full_path
  await put(`/projects/${one.project.id}`, { path: 'renamed' })
  const now = before.replace(/[^/]+$/, 'renamed')
  const sha = await one.commit('after the move')
  const ran = await one.push('origin', 'HEAD:topic')
  assert.deepEqual([ran.code, heard(ran)], [0, remark(before, now)])
  assert.equal(tip(one.remote, 'refs/heads/topic'), sha)
  const url = client.url(`${before}.git`, one.as)
  for (const version of [0, 2]) {
    const args = ['-c', `protocol.version=${version}`, 'clone', '--quiet', url, freshPath(client)]
    const cloned = await client.run(client.place, args)
    assert.equal(cloned.code, 0, cloned.told)
    assert.deepEqual(heard(cloned), version === 2 ? remark(before, now) : [])
  }
  const there = await client.run(client.place, ['clone', '-q', client.url(now, one.as), freshPath(client)])
  assert.deepEqual([there.code, heard(there)], [0, []])
})

test('projects of a renamed group are found by their old addresses, by nobody else than before', async () => {
  const group = await world.make.group()
  const project = await world.make.project({ group, repository: source })
  const one = await clone('developer', { project })
  const before = project.full_path
  await put(`/groups/${group.id}`, { path: `${group.path}-renamed` })
  await one.commit('after the move')
  const ran = await one.push('origin', 'HEAD:topic')
  assert.deepEqual(
    [ran.code, heard(ran)[1]],
    [0, `Project '${before}' was moved to '${group.path}-renamed/${project.path}'.`],
  )
  const stranger = await world.make.user()
  const refused = await client.run(client.place, ['ls-remote', client.url(before, stranger)])
  assert.match(refused.told, /could not be found or you don't have permission/)
  const nobody = await client.run(client.place, ['ls-remote', client.url(before)])
  assert.match(nobody.told, /could not read Username/)
})

const made = async (path: string): Promise<Pick<Project, 'id' | 'visibility' | 'default_branch'>[]> =>
  rowsOf(world, 'select id, visibility, default_branch from projects where full_path = $1', [path])

test('a push to a path without a project makes a private project of its namespace', async () => {
  const one = await clone('developer')
  const group = await world.make.group({ visibility: 'public' })
  const maintainer = await world.make.memberOf('maintainer', { group })
  for (const [path, as] of [
    [`${one.as.username}/mine`, one.as],
    [`${group.full_path}/ours`, maintainer],
  ] as const) {
    const sha = await one.commit(`into ${path}`)
    const ran = await one.push(client.url(`${path}.git`, as), 'HEAD:refs/heads/main')
    assert.equal(ran.code, 0, ran.told)
    assert.deepEqual(heard(ran), [
      '',
      `The private project ${path} was successfully created.`,
      '',
      'To configure the remote, run:',
      `  git remote add origin https://guild.example/${path}.git`,
      '',
      'To view the project, visit:',
      `  https://guild.example/${path}`,
      '',
    ])
    const [project] = await made(path)
    assert.ok(project)
    assert.deepEqual([project.visibility, project.default_branch], ['private', 'main'])
    assert.equal(tip(remoteOf(world, project), 'refs/heads/main'), sha)
  }
})

test('a push makes no project where the caller makes none, and a look makes none anywhere', async () => {
  const one = await clone('developer')
  const group = await world.make.group({ visibility: 'public' })
  const [reporter, developer] = [
    await world.make.memberOf('reporter', { group }),
    await world.make.memberOf('developer', { group }),
  ]
  const reads = { token: await world.make.token(one.as, { scopes: ['read_repository'] }) }
  await one.commit('new')
  for (const [path, as] of [
    [`${group.full_path}/theirs`, reporter],
    // The first branch would be protected from them.
    [`${group.full_path}/theirs`, developer],
    [`${group.full_path}/theirs`, one.as],
    [`${one.as.username}/theirs`, reads],
    [`${one.as.username}/-bad`, one.as],
    ['no/such/group', one.as],
  ] as const) {
    const ran = await one.push(client.url(path, as), 'HEAD:main')
    assert.equal(ran.code, 128)
    assert.match(ran.told, /could not be found or you don't have permission to view it/)
    assert.deepEqual(await made(path), [])
  }
  const path = `${one.as.username}/looked-at`
  const dry = await one.push('--dry-run', client.url(path, one.as), 'HEAD:main')
  assert.equal(dry.code, 0, dry.told)
  assert.notEqual((await client.run(client.place, ['ls-remote', client.url(path, one.as)])).code, 0)
  assert.deepEqual(await made(path), [])
})
