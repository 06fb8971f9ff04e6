import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { rowsOf } from '../../../test/support/rows.ts'
import { openWorld, type World } from '../../../test/support/world.ts'

let world: World
before(async () => {
  world = await openWorld()
})
after(() => world.close())

test('a caller is told who the token belongs to; an administrator a little more', async () => {
  const user = await world.make.user()
  const told = {
    id: user.id,
    username: user.username,
    name: user.name,
    state: 'active',
    locked: false,
    avatar_url: null,
    web_url: `https://guild.example/${user.username}`,
    created_at: user.created_at.toISOString(),
    bio: '',
    location: null,
    public_email: null,
    linkedin: '',
    twitter: '',
    discord: '',
    github: '',
    website_url: '',
    organization: null,
    job_title: '',
    pronouns: null,
    work_information: null,
    skype: '',
    followers: 0,
    following: 0,
    is_followed: false,
    local_time: null,
    last_sign_in_at: null,
    current_sign_in_at: null,
    bot: false,
    external: false,
    email: user.email,
    commit_email: user.email,
    confirmed_at: user.confirmed_at?.toISOString(),
    projects_limit: 100_000,
    can_create_group: true,
    can_create_project: true,
    private_profile: false,
    two_factor_enabled: false,
    identities: [],
  }
  const get = async (): Promise<object> => {
    const { last_activity_on: _day, ...body } = (await world.get('/user', user)).body as Record<
      string,
      unknown
    >
    return body
  }
  assert.deepEqual(await get(), told)
  await world.make.sql(`update users set admin = true where id = ${user.id}`)
  const [namespace] = await rowsOf(world, 'select id from namespaces where owner_id = $1', [user.id])
  assert.deepEqual(await get(), {
    ...told,
    note: null,
    created_by: null,
    is_admin: true,
    namespace_id: (namespace as { id: number }).id,
  })
})

test('a token that may read its user does that, and asks what the instance is', async () => {
  const user = await world.make.user()
  const reader = { ...user, token: await world.make.token(user, { scopes: ['read_user'] }) }
  for (const path of ['/user', '/version', '/metadata'])
    assert.equal((await world.get(path, reader)).status, 200)
  assert.equal((await world.get('/groups', reader)).status, 403)
  const blind = { ...user, token: await world.make.token(user, { scopes: ['read_repository'] }) }
  assert.deepEqual((await world.get('/user', blind)).body, {
    error: 'insufficient_scope',
    error_description: 'The request requires higher privileges than provided by the access token.',
    scope: 'api read_api read_user',
  })
})

test('the version is that of the interface, and the revision names the program', async () => {
  const user = await world.make.user()
  const { version, revision } = (await world.get('/version', user)).body as Record<string, string>
  assert.match(version ?? '', /^\d+\.\d+\.\d+$/)
  assert.match(revision ?? '', /^guildhall-\d+\.\d+\.\d+$/)
  const kas = { enabled: false, externalUrl: null, externalK8sProxyUrl: null, version: null }
  assert.deepEqual((await world.get('/metadata', user)).body, { version, revision, kas, enterprise: true })
  const free = await openWorld({ env: { GUILDHALL_TIER: 'free' } })
  const body = (await free.get('/metadata', await free.make.user())).body as { enterprise: boolean }
  assert.equal(body.enterprise, false)
  await free.close()
})
