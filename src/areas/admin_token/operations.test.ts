import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Someone } from '../../../test/support/makers.ts'
import { freshenTokens, rowOf, rowsOf } from '../../../test/support/rows.ts'
import { sharedWorld } from '../../../test/support/stand.ts'
import type { Answered } from '../../../test/support/world.ts'
import { setFeature, setSetting } from '../../core/settings/settings.ts'
import { makeToken } from '../../access/tokens.ts'

let admin: Someone
const world = sharedWorld(async ({ make }) => {
  admin = await make.admin()
})

const ask = (method: 'POST' | 'DELETE', token: string): Promise<Answered> =>
  world().call(method, '/admin/token', { as: admin, body: { token } })
const idOf = async (token: string): Promise<number> =>
  (
    await rowOf<{ id: number }>(world(), 'select id from personal_access_tokens where digest = sha256($1)', [
      Buffer.from(token),
    ])
  ).id
const NOT_FOUND = [404, { message: { error: 'Not found' } }]
const UNSUPPORTED = [422, { message: 'Token type not supported.' }]

async function withPrefix(prefix: string, work: () => Promise<void>): Promise<void> {
  const { db, settings } = world().opened.instance
  await setSetting(db, 'personal_access_token_prefix', prefix)
  await settings.reload()
  try {
    await work()
  } finally {
    await setSetting(db, 'personal_access_token_prefix', 'glpat-')
    await settings.reload()
  }
}

test('a personal token is told with every field of its record', async () => {
  const user = await world().make.user()
  const token = await world().make.token(user, { name: 'mine', scopes: ['api'], expires_at: '2099-01-31' })
  const answer = await ask('POST', token)
  const { created_at, updated_at, ...rest } = answer.body as Record<string, unknown>
  assert.match(String(created_at), /^\d{4}-\d\d-\d\dT[\d:]{8}\.\d{3}Z$/)
  assert.equal(created_at, updated_at)
  assert.deepEqual(
    [answer.status, rest],
    [
      200,
      {
        id: await idOf(token),
        user_id: user.id,
        name: 'mine',
        revoked: false,
        expires_at: '2099-01-31',
        impersonation: false,
        expire_notification_delivered: false,
        scopes: ['api'],
        last_used_at: null,
        after_expiry_notification_delivered: false,
        previous_personal_access_token_id: null,
        advanced_scopes: null,
        organization_id: 1,
      },
    ],
  )
})

test('project, group and impersonation tokens and expired ones are found too, and revoked', async () => {
  const { make } = world()
  const [user, project, group] = [await make.user(), await make.project(), await make.group()]
  for (const path of [`/projects/${project.id}`, `/groups/${group.id}`]) {
    const made = await world().call('POST', `${path}/access_tokens`, {
      as: admin,
      body: { name: 'bot', scopes: ['api'], expires_at: '2099-01-01' },
    })
    const bot = made.body as { id: number; token: string; user_id: number }
    const told = async (): Promise<unknown[]> => {
      const { status, body } = await ask('POST', bot.token)
      const { id, user_id, revoked } = body as { id: number; user_id: number; revoked: boolean }
      return [status, id, user_id, revoked]
    }
    assert.deepEqual(await told(), [200, bot.id, bot.user_id, false])
    assert.equal((await ask('DELETE', bot.token)).status, 204)
    assert.deepEqual(await told(), [200, bot.id, bot.user_id, true])
    assert.equal((await world().get('/user', { token: bot.token } as Someone)).status, 401)
  }
  const impersonation = await ask('POST', await make.token(user, { impersonation: true }))
  assert.equal((impersonation.body as { impersonation: boolean }).impersonation, true)
  const expired = await ask('POST', await make.token(user, { expires_at: '2001-01-01' }))
  assert.deepEqual([expired.status, (expired.body as { revoked: boolean }).revoked], [200, false])
})

test('the prefix alone decides: known without a record is 404, unknown is 422', async () => {
  for (const method of ['POST', 'DELETE'] as const) {
    for (const token of ['glpat-', 'glpat-nothing', makeToken('glpat-'), `glpat-${'x'.repeat(100_000)}`]) {
      const answer = await ask(method, token)
      assert.deepEqual([answer.status, answer.body], NOT_FOUND, token)
    }
    const client = 'glet_0123456789abcdef0123456789abcdef'
    for (const token of ['unsupported', 'gl', 'glPAT-x', client, ' glpat-x', '']) {
      const answer = await ask(method, token)
      assert.deepEqual([answer.status, answer.body], UNSUPPORTED, token)
    }
  }
})

test('the current custom prefix and the built-in one are known, a previous one is not', async () => {
  const user = await world().make.user()
  const token = await world().make.token(user, { token: makeToken('acme-') })
  assert.deepEqual((await ask('POST', token)).status, 422)
  await withPrefix('acme-', async () => {
    assert.equal((await ask('POST', token)).status, 200)
    assert.equal((await ask('POST', await world().make.token(user))).status, 200)
  })
  const answer = await ask('DELETE', token)
  assert.deepEqual([answer.status, answer.body], UNSUPPORTED)
})

test('a revoked token opens nothing any more, is still told, and may be revoked again', async () => {
  const user = await world().make.user()
  const answer = await ask('DELETE', user.token)
  assert.deepEqual([answer.status, answer.text], [204, ''])
  assert.equal((await world().get('/user', user)).status, 401)
  const told = await ask('POST', user.token)
  assert.deepEqual([told.status, (told.body as { revoked: boolean }).revoked], [200, true])
  assert.equal((await ask('DELETE', user.token)).status, 204)
})

test('a DELETE takes the token from the query too', async () => {
  const user = await world().make.user()
  const answer = await world().call('DELETE', '/admin/token', { as: admin, query: { token: user.token } })
  assert.equal(answer.status, 204)
  assert.equal((await world().get('/user', user)).status, 401)
})

test('an administrator may revoke the token of the request itself', async () => {
  const other = await world().make.admin()
  const answer = await world().call('DELETE', '/admin/token', { as: other, body: { token: other.token } })
  assert.equal(answer.status, 204)
  assert.equal((await world().get('/user', other)).status, 401)
})

test('each act leaves one audit event, without the token, and a refusal leaves none', async () => {
  const user = await world().make.user()
  const id = await idOf(user.token)
  await ask('POST', user.token)
  await ask('DELETE', user.token)
  await ask('POST', 'glpat-unknown')
  const events = await rowsOf(
    world(),
    'select author_id, entity_type, event_type, details from audit_events where entity_id = $1 order by id',
    [user.id],
  )
  const details = (act: string): object => ({
    custom_message: `An administrator ${act} a token`,
    author_name: admin.name,
    target_type: 'PersonalAccessToken',
    target_id: id,
    target_details: 'test',
  })
  assert.deepEqual(
    events,
    ['introspected', 'revoked'].map((act) => ({
      author_id: admin.id,
      entity_type: 'User',
      event_type: `admin_token_${act}`,
      details: details(act),
    })),
  )
  assert.ok(!JSON.stringify(events).includes(user.token))
})

test('no token that was asked about reaches the log', async () => {
  const user = await world().make.user()
  await world().call('POST', '/admin/token', { as: admin, query: { token: user.token } })
  await ask('DELETE', user.token)
  assert.ok(!world().logs.join('').includes(user.token))
})

test('a known token and an unknown one cost the same statements to look up', async () => {
  const user = await world().make.user()
  await freshenTokens(world(), admin)
  const unknown = await world().statements(() => ask('POST', 'glpat-unknown'))
  const known = await world().statements(() => ask('POST', user.token))
  // The act of a successful look-up is recorded.
  assert.deepEqual([unknown.length, known.length], [2, 3])
})

test('while the revocation flag is off introspection alone is served', async () => {
  const { db, settings } = world().opened.instance
  const user = await world().make.user()
  await setFeature(db, 'admin_token_revoke', false)
  await settings.reload()
  try {
    const answer = await ask('DELETE', user.token)
    assert.deepEqual([answer.status, answer.body], [404, { error: '404 Not Found' }])
    assert.equal((await ask('POST', user.token)).status, 200)
  } finally {
    await setFeature(db, 'admin_token_revoke', true)
    await settings.reload()
  }
})
