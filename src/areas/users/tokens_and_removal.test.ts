import assert from 'node:assert/strict'
import { test } from 'node:test'
import { rowOf, rowsOf } from '../../../test/support/rows.ts'
import { sharedWorld } from '../../../test/support/stand.ts'
import type { Someone } from '../../../test/support/makers.ts'

let admin: Someone
let user: Someone
const world = sharedWorld(async (here) => {
  admin = await here.make.admin()
  user = await here.make.user()
})
type Method = 'GET' | 'POST' | 'PUT' | 'DELETE'
const call = (method: Method, path: string, body?: object, as = admin) =>
  world().call(method, path, { as, ...(body && { body }) })
const told = ({ status, body }: { status: number; body: unknown }): unknown[] => [status, body]

test('an administrator makes a token for a user, which is shown once and works', async () => {
  const path = `/users/${user.id}/personal_access_tokens`
  const made = await call('POST', path, {
    name: 'robot',
    scopes: 'api,read_user',
    description: 'of the yard',
  })
  assert.equal(made.status, 201, made.text)
  const { id, token, created_at, expires_at, ...body } = made.body as Record<string, string>
  assert.deepEqual(body, {
    name: 'robot',
    revoked: false,
    description: 'of the yard',
    scopes: ['api', 'read_user'],
    user_id: user.id,
    last_used_at: null,
    active: true,
  })
  assert.match(String(token), /^glpat-/)
  assert.equal((await world().get('/user', { ...user, token: String(token) })).status, 200)
  assert.equal(
    (Date.parse(String(expires_at)) - Date.parse(String(created_at).slice(0, 10))) / 86_400_000,
    365,
  )
  const shown = await world().get(`/personal_access_tokens/${String(id)}`, user)
  assert.ok(!shown.text.includes(String(token)))
  assert.deepEqual(told(await call('POST', path, { name: 'x', scopes: ['flying'] })), [
    400,
    { error: 'scopes does not have a valid value' },
  ])
  assert.deepEqual(
    told(await call('POST', '/users/987654321/personal_access_tokens', { name: 'x', scopes: ['api'] })),
    [404, { message: '404 User Not Found' }],
  )
})

test('a rotated token is refused, its successor opens what it opened', async () => {
  const mine = { ...user, token: await world().make.token(user, { name: 'turning', scopes: ['api'] }) }
  const turned = await call('POST', '/personal_access_tokens/self/rotate', {}, mine)
  assert.equal(turned.status, 200, turned.text)
  const { token, name, scopes } = turned.body as { token: string; name: string; scopes: string[] }
  assert.deepEqual([name, scopes], ['turning', ['api']])
  assert.equal((await world().get('/user', mine)).status, 401)
  const next = { ...user, token }
  assert.equal((await world().get('/user', next)).status, 200)
  const { id } = turned.body as { id: number }
  const again = await call('POST', `/personal_access_tokens/${id}/rotate`, { expires_at: '2999-01-01' }, user)
  assert.equal((again.body as { expires_at: string }).expires_at, '2999-01-01')
  assert.deepEqual(told(await call('POST', `/personal_access_tokens/${id}/rotate`, {}, user)), [
    400,
    { message: '400 Bad request - token already revoked' },
  ])
  const stranger = await world().make.user()
  assert.equal((await call('POST', `/personal_access_tokens/${id}/rotate`, {}, stranger)).status, 401)
})

test('of many who rotate one token at once, one gets the next', async () => {
  await world().make.token(user, { name: 'raced' })
  const { id } = await rowOf<{ id: number }>(
    world(),
    `select id from personal_access_tokens where name = 'raced'`,
  )
  const answers = await Promise.all(
    Array.from({ length: 20 }, () => call('POST', `/personal_access_tokens/${id}/rotate`, {}, user)),
  )
  assert.equal(answers.filter(({ status }) => status === 200).length, 1)
  const rows = await rowsOf(
    world(),
    `select id from personal_access_tokens where name = 'raced' and not revoked`,
  )
  assert.equal(rows.length, 1)
})

test('an impersonation token is the administrators’ to see, and acts as the user', async () => {
  const path = `/users/${user.id}/impersonation_tokens`
  const made = await call('POST', path, { name: 'help desk', scopes: ['api'] })
  assert.equal(made.status, 201, made.text)
  const { id, token, impersonation } = made.body as { id: number; token: string; impersonation: boolean }
  assert.equal(impersonation, true)
  assert.equal(((await world().get('/user', { ...user, token })).body as { id: number }).id, user.id)
  const names = async (state: string): Promise<unknown> =>
    ((await call('GET', `${path}?state=${state}`)).body as { name: string }[]).map(({ name }) => name)
  assert.deepEqual([await names('active'), await names('inactive')], [['help desk'], []])
  assert.equal(
    (await call('GET', `/users/${admin.id}/impersonation_tokens/${id}`)).text,
    '{"message":"404 Impersonation Token Not Found"}',
  )
  assert.equal((await call('DELETE', `${path}/${id}`)).status, 204)
  assert.equal((await world().get('/user', { ...user, token })).status, 401)
  assert.deepEqual([await names('active'), await names('all')], [[], ['help desk']])
})

test('with a token nobody makes a stronger one', async () => {
  const body = { name: 'own', scopes: ['k8s_proxy'] }
  assert.equal((await call('POST', '/user/personal_access_tokens', body, user)).status, 201)
  assert.deepEqual(
    told(await call('POST', '/user/personal_access_tokens', { ...body, scopes: ['api'] }, user)),
    [400, { error: 'scopes does not have a valid value' }],
  )
})

test('an address of one’s own claims nothing until it is confirmed, and says nothing of others', async () => {
  const other = await world().make.user()
  const claimed = await call('POST', '/user/emails', { email: other.email.toUpperCase() }, user)
  assert.equal(claimed.status, 201, claimed.text)
  const { id, ...body } = claimed.body as { id: number }
  assert.deepEqual(body, { email: other.email.toUpperCase(), confirmed_at: null })
  assert.deepEqual(told(await call('POST', '/user/emails', { email: other.email }, user)), [
    400,
    { message: { email: ['has already been taken'] } },
  ])
  assert.deepEqual(
    told(await call('POST', `/users/${user.id}/emails`, { email: admin.email, skip_confirmation: true })),
    [400, { message: { email: ['has already been taken'] } }],
  )
  assert.deepEqual(((await world().get('/user/emails', user)).body as unknown[]).length, 1)
  assert.deepEqual(told(await call('DELETE', `/user/emails/${id}`, undefined, other)), [
    404,
    { message: '404 Email Not Found' },
  ])
  assert.equal((await call('DELETE', `/user/emails/${id}`, undefined, user)).status, 204)
})

test('a status says what one is up to until it is over', async () => {
  const set = await call('PUT', '/user/status', { message: '<b>sailing</b>', availability: 'busy' }, user)
  assert.deepEqual(told(set), [
    200,
    {
      emoji: 'speech_balloon',
      availability: 'busy',
      message: '<b>sailing</b>',
      message_html: '&lt;b&gt;sailing&lt;/b&gt;',
      clear_status_at: null,
    },
  ])
  assert.deepEqual((await world().get(`/users/${user.username}/status`)).body, set.body)
  const long = await call('PUT', '/user/status', { message: 'm'.repeat(101) }, user)
  assert.equal(long.text, '{"message":{"message":["is too long (maximum is 100 characters)"]}}')
  await call('PUT', '/user/status', { message: 'soon', clear_status_after: '30_minutes' }, user)
  await world().make.sql(
    `update users set status = status || '{"clear_at":"2020-01-01T00:00:00.000Z"}' where id = ${user.id}`,
  )
  assert.equal(((await world().get('/user/status', user)).body as { message: unknown }).message, null)
})

test('contributions of a deleted user move to the ghost user', async () => {
  const gone = await world().make.user()
  const project = await world().make.project()
  const { id: author } = gone
  await world().make.sql(`
    insert into issues (project_id, iid, author_id, title) values (${project.id}, 1, ${author}, 'leak')`)
  await world().make.member(gone, 'developer', { project })
  assert.equal((await call('DELETE', `/users/${author}`)).status, 204)
  const issue = await rowOf<{ username: string }>(
    world(),
    `select u.username from issues i join users u on u.id = i.author_id where i.project_id = ${project.id}`,
  )
  assert.equal(issue.username, 'ghost')
  assert.equal((await call('GET', `/users/${author}`)).status, 404)
  assert.equal((await world().get('/user', gone)).status, 401)
  assert.deepEqual(await rowsOf(world(), `select from members where user_id = ${author}`), [])
})

test('a user who owns a group alone stays; with `hard_delete` group and contributions go too', async () => {
  const gone = await world().make.user()
  const group = await world().make.group()
  await world().make.member(gone, 'owner', { group })
  assert.deepEqual(told(await call('DELETE', `/users/${gone.id}`)), [
    409,
    { message: 'User cannot be removed while is the sole-owner of a group' },
  ])
  const project = await world().make.project()
  await world().make.sql(`
    insert into issues (project_id, iid, author_id, title) values (${project.id}, 1, ${gone.id}, 'leak')`)
  assert.equal((await call('DELETE', `/users/${gone.id}?hard_delete=true`)).status, 204)
  assert.deepEqual(await rowsOf(world(), `select from issues where project_id = ${project.id}`), [])
  assert.equal((await call('GET', `/groups/${group.id}`)).status, 404)
})
