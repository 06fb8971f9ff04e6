import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Namespace, Project } from '../../db/schema/tables.ts'
import type { Someone } from '../../../test/support/makers.ts'
import { rowsOf } from '../../../test/support/rows.ts'
import { contents, sharedWorld } from '../../../test/support/stand.ts'

let [owner, maintainer]: Someone[] = []
let harbour: Namespace
let ferry: Project
const world = sharedWorld(async ({ make }) => {
  harbour = await make.group({ path: 'harbour' })
  ferry = await make.project({ group: harbour, path: 'ferry' })
  owner = await make.memberOf('owner', { group: harbour })
  maintainer = await make.memberOf('maintainer', { project: ferry })
})
type Method = 'GET' | 'POST' | 'DELETE'
const call = (method: Method, path: string, body?: object, as = maintainer) =>
  world().call(method, path, { as, ...(body && { body }) })
const told = ({ status, body }: { status: number; body: unknown }): unknown[] => [status, body]
const ofProject = (): string => `/projects/${ferry.id}/access_tokens`
const ofGroup = (): string => `/groups/${harbour.id}/access_tokens`
interface Made {
  readonly id: number
  readonly user_id: number
  readonly token: string
  readonly expires_at: string
}
const bearing = (token: string): Someone => ({ ...(owner as Someone), token })

test('a token of a project is borne by a bot, a member with the level and no more', async () => {
  const answer = await call('POST', ofProject(), {
    name: 'deploys',
    scopes: ['api'],
    access_level: 20,
    expires_at: '2999-01-31',
  })
  assert.equal(answer.status, 201, answer.text)
  const { id, token, user_id, created_at, ...body } = answer.body as Made & { created_at: string }
  assert.deepEqual(body, {
    name: 'deploys',
    revoked: false,
    description: null,
    scopes: ['api'],
    last_used_at: null,
    active: true,
    expires_at: '2999-01-31',
    access_level: 20,
    resource_type: 'project',
    resource_id: ferry.id,
  })
  assert.equal(typeof created_at, 'string')
  const me = (await world().get('/user', bearing(token))).body as Record<string, unknown>
  assert.deepEqual([me['id'], me['bot'], me['name']], [user_id, true, 'deploys'])
  assert.match(String(me['username']), new RegExp(`^project_${ferry.id}_bot_[0-9a-f]{32}$`))
  const member = await call('GET', `/projects/${ferry.id}/members/${user_id}`)
  assert.equal((member.body as { access_level: number }).access_level, 20)
  assert.equal((await world().get(`/groups/${harbour.id}/members`, bearing(token))).status, 200)
  assert.equal(
    (await call('POST', `/projects/${ferry.id}/members`, { user_id, access_level: 30 }, bearing(token)))
      .status,
    403,
  )
  const shown = await call('GET', `${ofProject()}/${id}`)
  assert.ok(!shown.text.includes(token))
  assert.deepEqual((await call('GET', ofProject())).body, [shown.body])
  assert.equal((await call('GET', `${ofGroup()}/${id}`, undefined, owner)).status, 404)
})

test('callers without the right to make a token, or one so strong, get the published refusal', async () => {
  const { make } = world()
  const developer = await make.memberOf('developer', { project: ferry })
  const body = { name: 'x', scopes: ['api'] }
  assert.deepEqual(told(await call('POST', ofProject(), body, developer)), [
    400,
    { message: '400 Bad request - User does not have permission to create project access token' },
  ])
  assert.deepEqual(told(await call('POST', ofProject(), { ...body, access_level: 50 })), [
    400,
    { message: '400 Bad request - Could not provision owner access to project access token' },
  ])
  assert.deepEqual(told(await call('POST', ofProject(), { ...body, access_level: 25 })), [
    400,
    { error: 'access_level does not have a valid value' },
  ])
  assert.deepEqual(told(await call('POST', ofProject(), { ...body, scopes: ['sudo'] })), [
    400,
    { error: 'scopes does not have a valid value' },
  ])
  assert.deepEqual(told(await call('GET', ofProject(), undefined, developer)), [
    401,
    { message: '401 Unauthorized' },
  ])
  assert.deepEqual(told(await call('GET', `${ofProject()}/987654`)), [
    404,
    { message: '404 Could not find project access token with token_id: 987654 Not Found' },
  ])
  const bot = (await call('POST', ofProject(), { ...body, access_level: 40 })).body as Made
  assert.equal((await call('POST', ofProject(), body, bearing(bot.token))).status, 400)
  assert.deepEqual(
    await rowsOf(world(), `select from users where user_type = 'project_bot' and name = 'x' offset 1`),
    [],
  )
})

test('a rotated token keeps its bot; a revoked one takes the bot’s role with it', async () => {
  const made = (await call('POST', ofGroup(), { name: 'robot', scopes: ['api'] }, owner)).body as Made
  assert.equal((await world().get(`/groups/${harbour.id}`, bearing(made.token))).status, 200)
  const turned = await call('POST', `${ofGroup()}/${made.id}/rotate`, { expires_at: '2999-02-01' }, owner)
  assert.equal(turned.status, 200, turned.text)
  const next = turned.body as Made
  assert.deepEqual([next.user_id, next.expires_at], [made.user_id, '2999-02-01'])
  assert.equal((await world().get(`/groups/${harbour.id}`, bearing(made.token))).status, 401)
  assert.equal((await world().get(`/groups/${harbour.id}`, bearing(next.token))).status, 200)
  assert.deepEqual(told(await call('POST', `${ofGroup()}/${made.id}/rotate`, {}, owner)), [
    400,
    { message: '400 Bad request - token already revoked' },
  ])
  assert.equal((await call('DELETE', `${ofGroup()}/${next.id}`, undefined, owner)).status, 204)
  assert.equal((await world().get(`/groups/${harbour.id}`, bearing(next.token))).status, 401)
  assert.deepEqual(await rowsOf(world(), `select from members where user_id = ${made.user_id}`), [])
  const states = async (state: string): Promise<number> =>
    ((await call('GET', `${ofGroup()}?state=${state}`, undefined, owner)).body as unknown[]).length
  assert.deepEqual([await states('active'), await states('inactive')], [0, 2])
})

test('a maintainer does not get hold of an owner’s rights by turning a token', async () => {
  const strong = { name: 'strong', scopes: ['api'], access_level: 50 }
  const made = (await call('POST', ofProject(), strong, owner)).body as Made
  const turned = await call('POST', `${ofProject()}/${made.id}/rotate`, {})
  assert.deepEqual(told(turned), [401, { message: '401 Unauthorized' }])
  assert.equal((await world().get('/user', bearing(made.token))).status, 200)
})

test('a token is not made to be over, of whatever kind it is, and nothing is made beside it', async () => {
  const admin = await world().make.admin()
  const user = await world().make.user()
  const old = (await call('POST', ofProject(), { name: 'old', scopes: ['api'] }, owner)).body as Made
  const before = await contents(world())
  const token = { name: 'late', scopes: ['api'] }
  for (const [path, body, as] of [
    [ofProject(), token, owner],
    [ofGroup(), token, owner],
    [`${ofProject()}/${old.id}/rotate`, {}, owner],
    [`/users/${user.id}/personal_access_tokens`, token, admin],
    [`/users/${user.id}/impersonation_tokens`, token, admin],
    ['/user/personal_access_tokens', { name: 'late', scopes: ['k8s_proxy'] }, user],
    ['/personal_access_tokens/self/rotate', {}, user],
  ] as const)
    assert.deepEqual(
      told(await call('POST', path, { ...body, expires_at: '2020-01-01' }, as)),
      [400, { message: { expires_at: ['must be a date in the future'] } }],
      path,
    )
  assert.equal(await contents(world()), before)
})

test('a token that would do for nothing is not made, of whatever kind it is', async () => {
  const admin = await world().make.admin()
  const user = await world().make.user()
  const before = await contents(world())
  for (const [path, as] of [
    [ofProject(), owner],
    [ofGroup(), owner],
    [`/users/${user.id}/personal_access_tokens`, admin],
    [`/users/${user.id}/impersonation_tokens`, admin],
    ['/user/personal_access_tokens', user],
  ] as const)
    for (const scopes of [[], '', [null]])
      assert.deepEqual(
        told(await call('POST', path, { name: 'idle', scopes }, as)),
        [400, { message: { scopes: ["can't be blank"] } }],
        path,
      )
  assert.equal(await contents(world()), before)
})

test('a token may expire today, and on a day that is told as a moment', async () => {
  const today = new Date().toISOString().slice(0, 10)
  for (const [expires_at, day] of [
    [today, today],
    ['2999-01-31T10:00:00.000Z', '2999-01-31'],
  ]) {
    const answer = await call('POST', ofProject(), {
      name: 'brief',
      scopes: ['api'],
      access_level: 10,
      expires_at,
    })
    assert.equal(answer.status, 201, answer.text)
    assert.equal((answer.body as Made).expires_at, day)
  }
})

test('a token asks for itself and rotates itself, where it belongs and nowhere else', async () => {
  for (const [path, other, as] of [
    [ofProject(), ofGroup(), maintainer],
    [ofGroup(), ofProject(), owner],
  ] as const) {
    const body = { name: 'self', scopes: ['api'], access_level: 10, expires_at: '2999-01-31' }
    const made = (await call('POST', path, body, as)).body as Made
    const bot = bearing(made.token)
    const { token: _token, ...shown } = made
    const self = (await call('GET', `${path}/self`, undefined, bot)).body as object
    assert.deepEqual({ ...self, last_used_at: null }, shown)
    const elsewhere = await call('POST', `${other}/self/rotate`, undefined, bot)
    assert.ok([401, 404].includes(elsewhere.status), elsewhere.text)
    const rotated = await call('POST', `${path}/self/rotate`, { expires_at: '2999-02-28' }, bot)
    assert.equal(rotated.status, 200, rotated.text)
    const fresh = rotated.body as Made
    assert.deepEqual([fresh.user_id, fresh.expires_at], [made.user_id, '2999-02-28'])
    assert.equal((await world().get('/user', bot)).status, 401)
    assert.equal((await world().get('/user', bearing(fresh.token))).status, 200)
    for (const verb of ['GET', 'POST'] as const) {
      const address = verb === 'GET' ? `${path}/self` : `${path}/self/rotate`
      const refused = await call(verb, address, undefined, owner)
      assert.deepEqual(told(refused), [405, { message: '405 Method Not Allowed' }])
    }
  }
})

test('with its project a token ends', async () => {
  const project = await world().make.project({ group: harbour })
  const path = `/projects/${project.id}/access_tokens`
  const made = (await call('POST', path, { name: 'short', scopes: ['api'] }, owner)).body as Made
  assert.equal((await world().get('/user', bearing(made.token))).status, 200)
  await world().make.sql(`delete from projects where id = ${project.id}`)
  assert.equal((await world().get('/user', bearing(made.token))).status, 401)
  const bot = await rowsOf(world(), `select state from users where id = ${made.user_id}`)
  assert.deepEqual(bot, [{ state: 'blocked' }])
})

test('a bot makes nothing that outlives its project: no group, and no token of its own', async () => {
  const answer = await call('POST', ofProject(), { name: 'ci', scopes: ['api'], access_level: 10 })
  const bot = bearing((answer.body as Made).token)
  const before = await contents(world())
  for (const [path, body] of [
    ['/groups', { name: 'Own', path: 'own' }],
    ['/user/personal_access_tokens', { name: 'own', scopes: ['k8s_proxy'] }],
  ] as const)
    assert.deepEqual(told(await call('POST', path, body, bot)), [403, { message: '403 Forbidden' }], path)
  assert.equal(await contents(world()), before)
})
