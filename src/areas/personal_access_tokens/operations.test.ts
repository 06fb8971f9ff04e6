import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { rowsOf } from '../../../test/support/rows.ts'
import { openWorld, type World } from '../../../test/support/world.ts'

let world: World
before(async () => {
  world = await openWorld()
})
after(() => world.close())

const idOf = async (token: string, name: string): Promise<number> => {
  const [row] = await rowsOf(world, 'select id from personal_access_tokens where name = $1', [name])
  assert.ok(token.length > 0)
  return (row as { id: number }).id
}

test('a caller reads the token that came along, whatever it opens', async () => {
  const user = await world.make.user()
  const token = await world.make.token(user, {
    name: 'laptop',
    scopes: ['read_repository'],
    expires_at: '2999-12-31',
  })
  const id = await idOf(token, 'laptop')
  const answer = await world.get('/personal_access_tokens/self', { ...user, token })
  assert.equal(answer.status, 200, answer.text)
  const { created_at, last_used_at, ...body } = answer.body as Record<string, unknown>
  assert.deepEqual(body, {
    id,
    name: 'laptop',
    revoked: false,
    description: null,
    scopes: ['read_repository'],
    user_id: user.id,
    active: true,
    expires_at: '2999-12-31',
  })
  assert.equal(typeof created_at, 'string')
  assert.ok(last_used_at === null || typeof last_used_at === 'string')
  assert.equal((await world.get('/personal_access_tokens', { ...user, token })).status, 403)
})

test('a revoked token is refused from the next request on, and is revoked once', async () => {
  const user = await world.make.user()
  const token = await world.make.token(user, { name: 'gone' })
  const id = await idOf(token, 'gone')
  const self = { ...user, token }
  assert.equal((await world.call('DELETE', '/personal_access_tokens/self', { as: self })).status, 204)
  const late = await world.get('/user', self)
  assert.deepEqual([late.status, (late.body as { error: string }).error], [401, 'invalid_token'])
  const again = await world.call('DELETE', `/personal_access_tokens/${id}`, { as: user })
  assert.deepEqual([again.status, again.body], [400, { message: '400 Bad request' }])
  const shown = (await world.get(`/personal_access_tokens/${id}`, user)).body as Record<string, unknown>
  assert.deepEqual([shown['revoked'], shown['active']], [true, false])
})

test('a list holds one’s own tokens, filtered; an administrator sees those of all, or of one', async () => {
  const user = await world.make.user()
  const admin = await world.make.admin()
  await world.make.token(user, { name: 'build robot' })
  await world.make.token(user, { name: 'old', expires_at: '2001-01-01' })
  await world.make.token(user, { name: 'as somebody', impersonation: true })
  const names = async (query: Record<string, string>, as = user): Promise<unknown> => {
    const answer = await world.call('GET', '/personal_access_tokens', { as, query })
    assert.equal(answer.status, 200, answer.text)
    return (answer.body as { name: string }[]).map(({ name }) => name)
  }
  assert.deepEqual(await names({}), ['test', 'build robot', 'old'])
  assert.deepEqual(await names({ state: 'active' }), ['test', 'build robot'])
  assert.deepEqual(await names({ state: 'inactive' }), ['old'])
  assert.deepEqual(await names({ search: 'ROBOT' }), ['build robot'])
  assert.deepEqual(await names({ revoked: 'true' }), [])
  assert.deepEqual(await names({ user_id: String(user.id) }, admin), ['test', 'build robot', 'old'])
  assert.ok(((await names({ per_page: '100' }, admin)) as string[]).length > 3)
  const other = await world.call('GET', '/personal_access_tokens', {
    as: user,
    query: { user_id: String(admin.id) },
  })
  assert.deepEqual([other.status, other.body], [401, { message: '401 Unauthorized' }])
})

test('a token that administrators made to act as a user is not the user’s to see or turn', async () => {
  const user = await world.make.user()
  const token = await world.make.token(user, { name: 'acting', impersonation: true })
  const id = await idOf(token, 'acting')
  for (const [method, path] of [
    ['GET', ''],
    ['POST', '/rotate'],
    ['DELETE', ''],
  ] as const) {
    const answer = await world.call(method, `/personal_access_tokens/${id}${path}`, { as: user })
    assert.deepEqual([answer.status, answer.body], [401, { message: '401 Unauthorized' }])
  }
  assert.equal((await world.get('/user', { ...user, token })).status, 200)
})

test('only an administrator learns that a token is not there', async () => {
  const [user, admin] = [await world.make.user(), await world.make.admin()]
  for (const method of ['GET', 'DELETE'] as const) {
    const path = '/personal_access_tokens/987654321'
    const hidden = await world.call(method, path, { as: user })
    assert.deepEqual([hidden.status, hidden.body], [401, { message: '401 Unauthorized' }])
    const absent = await world.call(method, path, { as: admin })
    assert.deepEqual([absent.status, absent.body], [404, { message: '404 Not found' }])
  }
})
