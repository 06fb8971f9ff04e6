import assert from 'node:assert/strict'
import { test } from 'node:test'
import { rowOf, rowsOf } from '../../../test/support/rows.ts'
import { contents, sharedWorld } from '../../../test/support/stand.ts'
import type { Someone } from '../../../test/support/makers.ts'

let admin: Someone
let user: Someone
const world = sharedWorld(async (here) => {
  admin = await here.make.admin()
  user = await here.make.user({ username: 'ada', name: 'Ada Lovelace', email: 'ada@x.example' })
})
const call = (method: 'POST' | 'PUT' | 'DELETE', path: string, body?: object, as = admin) =>
  world().call(method, path, { as, ...(body && { body }) })
const told = ({ status, body }: { status: number; body: unknown }): unknown[] => [status, body]
const create = async (body: object): Promise<Record<string, unknown> & { id: number }> => {
  const answer = await call('POST', '/users', { force_random_password: true, ...body })
  assert.equal(answer.status, 201, answer.text)
  return answer.body as Record<string, unknown> & { id: number }
}

test('an administrator creates a user with a namespace, and is told everything', async () => {
  const answer = await call('POST', '/users', {
    email: 'grace@x.example',
    username: 'grace',
    name: 'Grace Hopper',
    password: 'not-kept-anywhere',
    note: 'keen',
    bio: 'compilers',
    job_title: 'Admiral',
    organization: 'Navy',
    external: true,
    projects_limit: 5,
    can_create_group: false,
    unknown: 'ignored',
  })
  assert.equal(answer.status, 201, answer.text)
  const { id, created_at, confirmed_at, namespace_id, ...body } = answer.body as Record<string, unknown>
  assert.deepEqual(body, {
    username: 'grace',
    name: 'Grace Hopper',
    state: 'active',
    locked: false,
    avatar_url: null,
    web_url: 'https://guild.example/grace',
    bio: 'compilers',
    location: null,
    public_email: null,
    linkedin: '',
    twitter: '',
    discord: '',
    github: '',
    website_url: '',
    organization: 'Navy',
    job_title: 'Admiral',
    pronouns: null,
    bot: false,
    work_information: 'Admiral at Navy',
    skype: '',
    followers: 0,
    following: 0,
    is_followed: false,
    local_time: null,
    email: 'grace@x.example',
    commit_email: 'grace@x.example',
    last_activity_on: null,
    last_sign_in_at: null,
    current_sign_in_at: null,
    projects_limit: 5,
    can_create_group: false,
    can_create_project: false,
    two_factor_enabled: false,
    external: true,
    private_profile: false,
    identities: [],
    is_admin: false,
    note: 'keen',
    created_by: {
      id: admin.id,
      username: admin.username,
      name: admin.name,
      state: 'active',
      locked: false,
      avatar_url: null,
      web_url: `https://guild.example/${admin.username}`,
    },
  })
  assert.equal(typeof created_at, 'string')
  assert.equal(typeof confirmed_at, 'string')
  const namespace = (await world().get(`/namespaces/grace`, admin)).body as { id: number; kind: string }
  assert.deepEqual([namespace.id, namespace.kind], [namespace_id, 'user'])
  assert.deepEqual((await world().get(`/users/${String(id)}`, admin)).body, answer.body)
  assert.ok(!(await contents(world())).includes('not-kept-anywhere'))
})

test('invalid user names get the published refusal and create nothing', async () => {
  const group = await world().make.group({ path: 'harbour' })
  const before = await contents(world())
  const good = { email: 'new@x.example', username: 'new', name: 'New', reset_password: true }
  const { reset_password: _none, ...without } = good
  assert.deepEqual(told(await call('POST', '/users', without)), [
    400,
    {
      error:
        'password, reset_password, force_random_password are missing, at least one parameter must be provided',
    },
  ])
  assert.deepEqual(told(await call('POST', '/users', { ...good, email: 'ADA@x.example' })), [
    409,
    { message: 'Email has already been taken' },
  ])
  assert.deepEqual(told(await call('POST', '/users', { ...good, username: 'Ada' })), [
    409,
    { message: 'Username has already been taken' },
  ])
  assert.deepEqual(told(await call('POST', '/users', { ...good, username: group.path })), [
    409,
    { message: 'Username has already been taken' },
  ])
  const bad = { ...good, email: 'nobody', username: '-x', password: 'short', bio: 'b'.repeat(256) }
  assert.deepEqual(told(await call('POST', '/users', bad)), [
    400,
    {
      message: {
        email: ['is invalid'],
        username: [
          "can contain only letters, digits, '_', '-' and '.'. Cannot start with '-' or '.', end in '.', '.git' or '.atom'.",
        ],
        password: ['is too short (minimum is 8 characters)'],
        bio: ['is too long (maximum is 255 characters)'],
      },
    },
  ])
  assert.deepEqual(told(await call('POST', '/users', { name: ' ', username: '' })), [
    400,
    {
      error:
        'email is missing, username is empty, name is empty, ' +
        'password, reset_password, force_random_password are missing, at least one parameter must be provided',
    },
  ])
  assert.equal(await contents(world()), before)
})

test('fifty at once who want one name: one gets it, the others are told that it is taken', async () => {
  const answers = await Promise.all(
    Array.from({ length: 50 }, (_, i) =>
      call('POST', '/users', {
        email: `n${i}@x.example`,
        username: 'wanted',
        name: 'W',
        reset_password: true,
      }),
    ),
  )
  assert.deepEqual(
    answers.map(({ status }) => status).sort((a, b) => a - b),
    [201, ...Array<number>(49).fill(409)],
  )
})

test('others see a user as public; of a private profile no more than its name', async () => {
  const shown = (await world().get(`/users/${user.id}`, user)).body as Record<string, unknown>
  assert.deepEqual(
    [shown['name'], shown['email'], shown['is_admin'], shown['note']],
    ['Ada Lovelace', undefined, undefined, undefined],
  )
  const shy = await create({ email: 'shy@x.example', username: 'shy', name: 'Shy', private_profile: true })
  const seen = (await world().get(`/users/${shy.id}`, user)).body as object
  assert.deepEqual(Object.keys(seen), ['id', 'username', 'name', 'state', 'locked', 'avatar_url', 'web_url'])
  assert.deepEqual(told(await world().get('/users/987654321', user)), [
    404,
    { message: '404 User Not Found' },
  ])
  assert.deepEqual(told(await world().get(`/users/${user.id}`)), [
    403,
    { message: '403 Forbidden - Not authorized!' },
  ])
})

test('a list finds by name and user name; by addresses only public ones, but for administrators', async () => {
  const kay = await create({ email: 'kay@hidden.example', username: 'kay', name: 'Alan Kay' })
  await world().make.sql(
    `insert into user_emails (user_id, email, confirmed_at) values (${kay.id}, 'kay@open.example', now())`,
  )
  assert.equal((await call('PUT', `/users/${kay.id}`, { public_email: 'kay@open.example' })).status, 200)
  const found = async (query: Record<string, string>, as?: Someone): Promise<unknown> => {
    const answer = await world().call('GET', '/users', { as, query })
    assert.equal(answer.status, 200, answer.text)
    return (answer.body as { username: string }[]).map(({ username }) => username)
  }
  assert.deepEqual(await found({ search: 'LOVE' }, user), ['ada'])
  assert.deepEqual(await found({ search: 'kay@open.example' }, user), ['kay'])
  assert.deepEqual(await found({ search: 'kay@hidden.example' }, user), [])
  assert.deepEqual(await found({ search: 'kay@hidden.example' }, admin), ['kay'])
  assert.deepEqual(await found({ search: '%' }, user), [])
  assert.deepEqual(await found({ username: 'KAY' }), ['kay'])
  assert.deepEqual(told(await world().get('/users')), [
    403,
    { message: '403 Forbidden - Not authorized to access /api/v4/users' },
  ])
  const all = (await found({ per_page: '100' }, user)) as string[]
  assert.deepEqual(await found({ per_page: '100', order_by: 'username', sort: 'asc' }, user), all)
  assert.deepEqual(await found({ per_page: '100', order_by: 'username', sort: 'asc' }, admin), all.toSorted())
  assert.deepEqual(await found({ admins: 'true' }, admin), [admin.username])
  assert.deepEqual(await found({ created_after: '2999-01-01' }, admin), [])
  assert.deepEqual(await found({ created_after: '2999-01-01', per_page: '100' }, user), all)
  const everybody = (await found({ per_page: '100' }, admin)) as string[]
  for (const [query, forAdministrators, forOthers] of [
    [{ two_factor: 'disabled' }, everybody, all],
    [{ two_factor: 'enabled' }, [], all],
    [{ extern_uid: '1', provider: 'directory' }, [], all],
    [{ saml_provider_id: '1' }, [], []],
  ] as const) {
    assert.deepEqual(await found({ ...query, per_page: '100' }, admin), forAdministrators)
    assert.deepEqual(await found({ ...query, per_page: '100' }, user), forOthers)
  }
  for (const [query, error] of [
    ['two_factor=perhaps', 'two_factor does not have a valid value'],
    ['saml_provider_id=one', 'saml_provider_id is invalid'],
    ['extern_uid=1', 'extern_uid, provider provide all or none of parameters'],
    ['provider=directory', 'extern_uid, provider provide all or none of parameters'],
  ])
    assert.deepEqual(told(await world().get(`/users?${query}`, admin)), [400, { error }])
  const basic = (await world().get('/users?username=ada', user)).body as object[]
  assert.deepEqual(Object.keys(basic[0] ?? {}).length, 7)
  assert.equal(
    (await world().get('/users?sort=up', user)).text,
    '{"error":"sort does not have a valid value"}',
  )
})

test('a page of users takes as many statements as a page of one', async () => {
  const count = async (size: number): Promise<number> =>
    (await world().statements(() => world().get(`/users?per_page=${size}`, admin))).length
  assert.equal(await count(1), await count(50))
})

test('namespace and projects follow a user’s name, and the old address is free', async () => {
  const mover = await create({ email: 'old@x.example', username: 'old', name: 'Old' })
  const group = (await rowOf(world(), 'select * from namespaces where owner_id = $1', [mover.id])) as never
  const project = await world().make.project({ group, path: 'boat' })
  const answer = await call('PUT', `/users/${mover.id}`, { username: 'fresh', name: 'Fresh' })
  assert.equal(answer.status, 200, answer.text)
  const paths = await rowsOf(
    world(),
    'select full_path from projects where id = $1 union all select full_name from namespaces where owner_id = $2',
    [project.id, mover.id],
  )
  assert.deepEqual(paths, [{ full_path: 'fresh/boat' }, { full_path: 'Fresh' }])
  assert.equal((await world().get('/namespaces/old', admin)).status, 404)
  await create({ email: 'old2@x.example', username: 'old', name: 'Old' })
  assert.deepEqual(told(await call('PUT', `/users/${mover.id}`, { username: 'ada' })), [
    409,
    { message: 'Username has already been taken' },
  ])
  assert.deepEqual(told(await call('PUT', `/users/${mover.id}`, { public_email: 'ada@x.example' })), [
    400,
    { message: { public_email: ['is not an email you own'] } },
  ])
})

test('a blocked user’s tokens stop at once, and open again with the next request', async () => {
  const state = async (verb: string, as = admin, id = user.id): Promise<unknown[]> =>
    told(await call('POST', `/users/${id}/${verb}`, undefined, as))
  assert.deepEqual(await state('block'), [201, true])
  assert.equal((await world().get('/user', user)).status, 403)
  assert.deepEqual(await state('block'), [201, null])
  assert.deepEqual(await state('deactivate'), [
    403,
    { message: '403 Forbidden - A blocked user cannot be deactivated by the API' },
  ])
  assert.deepEqual(await state('activate'), [
    403,
    { message: '403 Forbidden - A blocked user must be unblocked to be activated' },
  ])
  assert.deepEqual(await state('unblock'), [201, true])
  assert.equal((await world().get('/user', user)).status, 200)
  assert.deepEqual(await state('block', admin, admin.id), [
    403,
    { message: '403 Forbidden - The API initiating user cannot be blocked by the API' },
  ])
  await world().make.sql(`update personal_access_tokens set last_used_at = now() where user_id = ${user.id}`)
  assert.deepEqual(await state('deactivate'), [
    403,
    {
      message:
        '403 Forbidden - The user you are trying to deactivate has been active in the past 90 days and cannot be deactivated',
    },
  ])
  await world().make.sql(
    `update personal_access_tokens set last_used_at = '2020-01-01' where user_id = ${user.id}`,
  )
  assert.deepEqual(await state('deactivate'), [201, true])
  assert.deepEqual(await state('deactivate'), [201, null])
  assert.equal((await world().get('/user', user)).status, 403)
  assert.deepEqual(await state('unblock'), [
    403,
    { message: '403 Forbidden - Deactivated users cannot be unblocked by the API' },
  ])
  assert.deepEqual(await state('activate'), [201, true])
})
