import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { setSetting } from '../../src/core/settings/settings.ts'
import type { Someone } from '../support/makers.ts'
import { sharedWorld } from '../support/stand.ts'
import type { Answered, CallOptions } from '../support/world.ts'

let user: Someone
let other: Someone
let admin: Someone

const world = sharedWorld(async ({ make }) => {
  user = await make.user({ username: 'Ann' })
  other = await make.user({ username: 'bob' })
  admin = await make.admin()
})

const UNAUTHORIZED = { message: '401 Unauthorized' }
const tokenProblem = (text: string): object => ({ error: 'invalid_token', error_description: text })

/** The user names whose personal namespaces the caller sees: an ordinary caller's own, and nobody's without one. */
const names = ({ body }: Answered): unknown =>
  Array.isArray(body) ? body.map(({ path }: { path: string }) => path) : body
const ask = async (options: CallOptions): Promise<unknown> =>
  names(await world().call('GET', '/namespaces', options))
const refusal = async (token: string): Promise<readonly unknown[]> => {
  const { status, body } = await world().call('GET', '/groups', { headers: { 'private-token': token } })
  return [status, body]
}
const form = { 'content-type': 'application/x-www-form-urlencoded' }

suite('ways to present a token', () => {
  test('PRIVATE-TOKEN, Bearer in any letter case, private_token, access_token', async () => {
    const { token } = user
    const ways: CallOptions[] = [
      { headers: { 'private-token': token } },
      { headers: { authorization: `Bearer ${token}` } },
      { headers: { authorization: `bearer   ${token}` } },
      { query: { private_token: token } },
      { query: { access_token: token } },
    ]
    for (const way of ways) assert.deepEqual(await ask(way), ['Ann'], JSON.stringify(way))
  })

  // POST reads them from its body too; the label is missing, and only somebody signed in gets to hear that.
  test('private_token and access_token in a form and in JSON', async () => {
    const group = await world().make.group()
    const { token } = await world().make.memberOf('owner', { group })
    const bodies: CallOptions[] = [
      { body: `private_token=${token}`, headers: form },
      { body: `access_token=${token}`, headers: form },
      { body: { private_token: token } },
      { body: { access_token: token } },
    ]
    for (const way of bodies) {
      const answer = await world().call('POST', `/groups/${group.id}/labels`, way)
      assert.deepEqual(answer.body, { error: 'name is missing, color is missing' }, JSON.stringify(way))
    }
  })

  // Of two tokens one must be chosen the same way everywhere, or a filter before the server sees another caller.
  test('GEN-11: a parameter is read before a header, as published', async () => {
    const query = { private_token: user.token }
    assert.deepEqual(await ask({ query, headers: { 'private-token': other.token } }), ['Ann'])
    assert.deepEqual(await ask({ query, headers: { authorization: `Bearer ${other.token}` } }), ['Ann'])
    const wrong = { private_token: 'wrong' }
    assert.deepEqual(await ask({ query: wrong, headers: { 'private-token': other.token } }), UNAUTHORIZED)
    const headers = { 'private-token': user.token, authorization: `Bearer ${other.token}` }
    assert.deepEqual(await ask({ headers }), ['Ann'])
    assert.deepEqual(await ask({ query: { access_token: other.token }, headers }), ['Ann'])
  })
  test('an empty token in JSON is a token, null is none', async () => {
    const call = async (private_token: string | null): Promise<unknown> =>
      (await world().call('POST', '/project_aliases', { as: admin, body: { private_token } })).body
    assert.deepEqual(await call(''), UNAUTHORIZED)
    assert.deepEqual(await call(null), { error: 'project_id is missing, name is missing' })
  })

  // A token that will not do is refused on public things too, so that its owner notices.
  for (const [what, options] of [
    ['an unknown PRIVATE-TOKEN', { headers: { 'private-token': 'glpat-unknown' } }],
    ['an unknown Bearer', { headers: { authorization: 'Bearer glpat-unknown' } }],
    ['an unknown private_token', { query: { private_token: 'glpat-unknown' } }],
    ['an unknown access_token', { query: { access_token: 'glpat-unknown' } }],
    ['an unknown JOB-TOKEN', { headers: { 'job-token': 'glcbt-unknown' } }],
    ['an unknown job_token', { query: { job_token: 'glcbt-unknown' } }],
    ['an empty PRIVATE-TOKEN', { headers: { 'private-token': '' } }],
    ['Bearer without a token', { headers: { authorization: 'Bearer' } }],
    ['Bearer with blanks for a token', { headers: { authorization: 'Bearer \t ' } }],
    ['an empty private_token', { query: { private_token: '' } }],
    ['a PRIVATE-TOKEN that is not ASCII', { headers: { 'private-token': 'glpat-é' } }],
    ['two private_tokens', { query: { private_token: ['a', 'b'] } }],
    ['a private_token that is a list', { query: { 'private_token[]': 'a' } }],
    ['a private_token that is a tree', { query: { 'private_token[$ne]': '' } }],
    ['a NUL as a token', { query: { private_token: '\0' } }],
    ['a SQL quote as a token', { query: { private_token: "' or 1=1 --" } }],
  ] satisfies [string, CallOptions][])
    test(`GEN-26: ${what} is 401, on what is open to all too`, async () => {
      const answer = await world().call('GET', '/groups', options)
      assert.deepEqual([answer.status, answer.body], [401, UNAUTHORIZED])
    })
  test('GEN-26: PRIVATE-TOKEN given twice with two values is 401', async () => {
    const { headers, status } = { headers: { 'private-token': `${user.token}, ${other.token}` }, status: 401 }
    assert.equal((await world().call('GET', '/groups', { headers })).status, status)
  })

  // A job's token is of another kind and may do less; a user's token in its place is a mix-up or a trick.
  test('a user’s token is not taken for a job’s', async () => {
    assert.deepEqual(await ask({ headers: { 'job-token': user.token } }), UNAUTHORIZED)
    assert.deepEqual(await ask({ query: { job_token: user.token } }), UNAUTHORIZED)
  })
  test('name and password are no token', async () => {
    const basic = `Basic ${Buffer.from(`Ann:${user.token}`).toString('base64')}`
    assert.deepEqual(await ask({ headers: { authorization: basic } }), UNAUTHORIZED)
  })
})

suite('tokens that will not do any more', () => {
  const answers = (id: string): Promise<void> => world().make.sql(id)

  test('AUTH-03: an expired token is 401 in the published words, from its day on', async () => {
    const token = await world().make.token(user, { expires_at: '2020-01-01' })
    const text = 'Token is expired. You can either do re-authorization or token refresh.'
    assert.deepEqual(await refusal(token), [401, tokenProblem(text)])
    const live = await world().make.token(user, { name: 'live' })
    assert.equal((await refusal(live))[0], 200)
    await answers(`update personal_access_tokens set expires_at = today() where name = 'live'`)
    assert.deepEqual(await refusal(live), [401, tokenProblem(text)])
    await answers(`update personal_access_tokens set expires_at = today() + 1 where name = 'live'`)
    assert.equal((await refusal(live))[0], 200)
  })
  test('AUTH-03: a revoked token is 401 in the published words, from the next request on', async () => {
    const token = await world().make.token(user, { name: 'revoked' })
    assert.equal((await refusal(token))[0], 200)
    await answers(`update personal_access_tokens set revoked = true where name = 'revoked'`)
    const text = 'Token was revoked. You have to re-authorize from the user.'
    assert.deepEqual(await refusal(token), [401, tokenProblem(text)])
  })
  const closed = {
    blocked: 'Your account has been blocked.',
    deactivated:
      'Your account has been deactivated by your administrator. ' +
      'Please log back in from a web browser to reactivate your account at https://guild.example',
  }
  for (const [state, text] of Object.entries(closed))
    test(`AUTH-03: the token of a ${state} user is 403 in the published words, from the next request on`, async () => {
      const someone = await world().make.user()
      assert.equal((await refusal(someone.token))[0], 200)
      await answers(`update users set state = '${state}' where id = ${someone.id}`)
      assert.deepEqual(await refusal(someone.token), [403, { message: `403 Forbidden - ${text}` }])
      await answers(`update users set state = 'active' where id = ${someone.id}`)
      assert.equal((await refusal(someone.token))[0], 200)
    })
  test('AUTH-03: the token of a user who is gone is 401', async () => {
    const someone = await world().make.user()
    await answers(`delete from users where id = ${someone.id}`)
    assert.deepEqual(await refusal(someone.token), [401, UNAUTHORIZED])
  })
  test('an impersonation token is refused in the published words while impersonation is off', async () => {
    const { db, settings } = world().opened.instance
    const token = await world().make.token(user, { impersonation: true })
    assert.equal((await refusal(token))[0], 200)
    await setSetting(db, 'impersonation_enabled', false)
    await settings.reload()
    const text = 'Token is an impersonation token but impersonation was disabled.'
    assert.deepEqual(await refusal(token), [401, tokenProblem(text)])
    assert.equal((await refusal(user.token))[0], 200)
    await setSetting(db, 'impersonation_enabled', true)
    await settings.reload()
    assert.equal((await refusal(token))[0], 200)
  })

  // A project's bot is a user like others: it sees what it is a member of and nothing else.
  test('a project’s bot reaches its project and no other', async () => {
    const { make } = world()
    const project = await make.project({ repository: 'empty' })
    const foreign = await make.project({ repository: 'empty' })
    const bot = await make.memberOf('reporter', { project })
    await answers(`update users set user_type = 'project_bot' where id = ${bot.id}`)
    const read = async (id: number): Promise<number> =>
      (await world().get(`/projects/${id}/repository/commits`, bot)).status
    assert.deepEqual([await read(project.id), await read(foreign.id)], [200, 404])
    assert.deepEqual((await world().get('/application/plan_limits', bot)).body, { message: '403 Forbidden' })
  })
})
