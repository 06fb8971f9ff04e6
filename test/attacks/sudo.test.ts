import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import type { Someone } from '../support/makers.ts'
import { sharedWorld } from '../support/stand.ts'
import type { CallOptions } from '../support/world.ts'

let user: Someone
let other: Someone
let admin: Someone

const world = sharedWorld(async ({ make }) => {
  user = await make.user({ username: 'Ann' })
  other = await make.user({ username: 'bob' })
  admin = await make.admin()
})

const UNAUTHORIZED = { message: '401 Unauthorized' }
/** The user that the caller acts as: an ordinary one sees the personal namespace only. */
async function ask(options: CallOptions): Promise<unknown> {
  const { body } = await world().call('GET', '/namespaces', options)
  return Array.isArray(body) ? body.map(({ path }: { path: string }) => path) : body
}

suite('acting as somebody else', () => {
  const as = (sudo: string, header = false): CallOptions =>
    header ? { as: admin, headers: { sudo } } : { as: admin, query: { sudo } }

  test('an administrator acts as a user, by id or name in any letter case, by header or parameter', async () => {
    for (const header of [true, false])
      for (const sudo of [String(user.id), 'Ann', 'ann', 'ANN'])
        assert.deepEqual(await ask(as(sudo, header)), ['Ann'], sudo)
  })
  test('AUTH-11: acting as a user leaves the administrator’s rights behind', async () => {
    const answer = await world().call('GET', '/application/plan_limits', as('bob'))
    assert.deepEqual([answer.status, answer.body], [403, { message: '403 Forbidden' }])
  })
  test('AUTH-11: sudo by anybody else is 403 in the published words', async () => {
    for (const options of [
      { query: { sudo: 'bob' } },
      { headers: { sudo: String(other.id) } },
      { query: { sudo: 'Ann' } },
    ]) {
      const answer = await world().call('GET', '/groups', { as: user, ...options })
      assert.deepEqual(
        [answer.status, answer.body],
        [403, { message: '403 Forbidden - Must be admin to use sudo' }],
      )
    }
  })
  test('sudo needs its scope', async () => {
    const token = await world().make.token(admin, { scopes: ['api'] })
    const answer = await world().call('GET', '/groups', { headers: { 'private-token': token, sudo: 'bob' } })
    assert.deepEqual(
      [answer.status, answer.body],
      [
        403,
        {
          error: 'insufficient_scope',
          error_description: 'The request requires higher privileges than provided by the access token.',
          scope: 'sudo',
        },
      ],
    )
  })
  for (const sudo of ['nobody', '0', '99999999', '99999999999999999999', '-1', '1 or 1=1', ''])
    test(`sudo as '${sudo}' is 404 in the published words`, async () => {
      const answer = await world().call('GET', '/groups', as(sudo))
      const message = `404 User with ID or username '${sudo}' Not Found`
      assert.deepEqual([answer.status, answer.body], [404, { message }])
    })
  test('GEN-12: a sudo that is no text is refused by name', async () => {
    const answer = await world().call('GET', '/groups', { as: admin, query: { 'sudo[]': 'bob' } })
    assert.deepEqual([answer.status, answer.body], [400, { error: 'sudo is invalid' }])
  })
  test('sudo without a token is nobody’s', async () => {
    assert.deepEqual(await ask({ query: { sudo: 'Ann' } }), UNAUTHORIZED)
  })
})
