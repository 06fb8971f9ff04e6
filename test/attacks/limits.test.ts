import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { setSetting, type SettingName } from '../../src/core/settings/settings.ts'
import type { Someone } from '../support/makers.ts'
import { contents, sharedWorld } from '../support/stand.ts'
import type { Answered, World } from '../support/world.ts'

const world = sharedWorld()
const PERIOD = 3_600

/** Every test takes a number of its own, and with it allowances of its own. */
async function allow(kind: 'authenticated' | 'unauthenticated', requests: number): Promise<void> {
  const { db, settings } = world().opened.instance
  const set = (name: SettingName, value: number | boolean): Promise<void> => setSetting(db, name, value)
  await set('throttle_authenticated_api_enabled', kind === 'authenticated')
  await set('throttle_unauthenticated_api_enabled', kind === 'unauthenticated')
  await set(`throttle_${kind}_api_requests_per_period`, requests)
  await set(`throttle_${kind}_api_period_in_seconds`, PERIOD)
  await settings.reload()
}

const limitsOf = ({ headers }: Pick<Answered, 'headers'>): Record<string, unknown> =>
  Object.fromEntries(
    Object.entries(headers).filter(([name]) => name.startsWith('ratelimit-') || name === 'retry-after'),
  )
const anonymous = async (ip: string, headers: Record<string, string> = {}): Promise<Answered> => {
  const answer = await world().app.inject({ url: '/api/v4/groups', remoteAddress: ip, headers })
  return { status: answer.statusCode, text: answer.body, body: answer.json(), headers: answer.headers }
}
const times = async (count: number, work: () => Promise<Answered>): Promise<number[]> => {
  const statuses: number[] = []
  for (let i = 0; i < count; i++) statuses.push((await work()).status)
  return statuses
}
const list = (as: Someone, here: World = world()): Promise<Answered> => here.get('/groups', as)

suite('request rates', () => {
  test('no limit is spoken of while the throttle is off', async () => {
    assert.deepEqual(limitsOf(await world().get('/groups')), {})
    assert.deepEqual(limitsOf(await list(await world().make.user())), {})
  })

  // A runaway script is told when to come back, in the published words.
  test('GEN-38: past the allowance it is 429, with everything a client needs to wait', async () => {
    await allow('authenticated', 3)
    const user = await world().make.user()
    const since = Math.floor(Date.now() / 1_000)
    const { 'ratelimit-reset': reset, ...first } = limitsOf(await list(user))
    assert.deepEqual(first, { 'ratelimit-limit': '3', 'ratelimit-observed': '1', 'ratelimit-remaining': '2' })
    assert.match(String(reset), /^\d{10}$/)
    assert.ok(
      Number(reset) >= since + PERIOD && Number(reset) <= since + PERIOD + 60,
      'a moment in Unix seconds',
    )
    assert.deepEqual(await times(2, () => list(user)), [200, 200])

    const { status, text, headers } = await list(user)
    assert.deepEqual(
      [status, text, headers['content-type']],
      [429, '{"message":"Retry later"}', 'application/json'],
    )
    const { 'ratelimit-reset': later, 'retry-after': retry, ...rest } = limitsOf({ headers })
    assert.deepEqual(rest, { 'ratelimit-limit': '3', 'ratelimit-observed': '4', 'ratelimit-remaining': '0' })
    assert.ok(Math.abs(Number(later) - Number(reset)) <= 1)
    assert.match(String(retry), /^[1-9]\d*$/)
    assert.ok(Number(retry) <= PERIOD)
  })
  test('GEN-38: other users, and callers without a token, go on', async () => {
    await allow('authenticated', 4)
    const [wild, calm] = [await world().make.user(), await world().make.user()]
    assert.deepEqual(await times(6, () => list(wild)), [200, 200, 200, 200, 429, 429])
    assert.equal((await list(calm)).status, 200)
    assert.equal((await world().get('/groups')).status, 200)
  })

  // One user, many tokens and addresses.
  test('GEN-38: a user’s tokens share one allowance', async () => {
    await allow('authenticated', 5)
    const user = await world().make.user()
    const more = { ...user, token: await world().make.token(user) }
    assert.deepEqual(await times(5, () => list(user)), [200, 200, 200, 200, 200])
    assert.equal((await list(more)).status, 429)
  })

  // A 429 after the write would make the client write again.
  test('GEN-38: a refused write wrote nothing, and one that wrote was not refused', async () => {
    await allow('authenticated', 6)
    const group = await world().make.group()
    const user = await world().make.memberOf('owner', { group })
    const create = (i: number): Promise<Answered> =>
      world().call('POST', `/groups/${group.id}/labels`, { as: user, body: { name: `l${i}`, color: 'red' } })
    const answers = await Promise.all(Array.from({ length: 12 }, (_, i) => create(i)))
    const written = answers.filter(({ status }) => status === 201)
    const refused = answers.filter(({ status }) => status === 429)
    assert.deepEqual([written.length, refused.length], [6, 6])
    const kept = await world().opened.client.pool.query('select title from labels where group_id = $1', [
      group.id,
    ])
    assert.deepEqual(
      kept.rows.map(({ title }: { title: string }) => title).sort(),
      answers.flatMap(({ status }, i) => (status === 201 ? [`l${i}`] : [])).sort(),
    )
    const before = await contents(world())
    assert.equal((await create(99)).status, 429)
    assert.equal(await contents(world()), before)
  })

  // An administrator's script that acts as somebody uses up its own allowance, not theirs.
  test('GEN-38: acting as a user costs the administrator', async () => {
    await allow('authenticated', 7)
    const [admin, user] = [await world().make.admin(), await world().make.user()]
    const acting = (): Promise<Answered> =>
      world().call('GET', '/groups', { as: admin, query: { sudo: user.username } })
    assert.deepEqual(await times(8, acting), [200, 200, 200, 200, 200, 200, 200, 429])
    assert.equal(limitsOf(await list(user))['ratelimit-observed'], '1')
  })

  // The address is what the server sees, whatever the caller says of itself.
  test('GEN-23: a forged address does not make a new caller', async () => {
    await allow('unauthenticated', 3)
    let i = 0
    const forged = (): Promise<Answered> => {
      const address = `198.51.100.${++i}`
      return anonymous('192.0.2.1', {
        'x-forwarded-for': address,
        forwarded: `for=${address}`,
        'x-real-ip': address,
      })
    }
    assert.deepEqual(await times(5, forged), [200, 200, 200, 429, 429])
    assert.equal((await anonymous('192.0.2.2', { 'x-forwarded-for': '192.0.2.1' })).status, 200)
  })

  // Guessing tokens is what a limit is for, and every guess is an answer of its own.
  test('GEN-38: tokens that will not do count against the address', async () => {
    await allow('unauthenticated', 4)
    let i = 0
    const guess = (): Promise<Answered> => anonymous('192.0.2.3', { 'private-token': `glpat-${++i}` })
    assert.deepEqual(await times(6, guess), [401, 401, 401, 401, 429, 429])
    assert.equal((await anonymous('192.0.2.3')).status, 429)
    assert.equal((await list(await world().make.user())).status, 200)
  })

  // A large body is refused before it is read, in a place of its own: there guesses were free.
  test('GEN-38: who is refused before a large body is read counts too', async () => {
    const payload = Buffer.alloc(1024 * 1024 + 1, ' ')
    const send = async (token: string, remoteAddress: string): Promise<Answered> => {
      const headers = { 'private-token': token, 'content-type': 'application/json' }
      const url = '/api/v4/projects/987654321/repository/commits'
      const answer = await world().app.inject({ method: 'POST', url, remoteAddress, headers, payload })
      return { status: answer.statusCode, text: answer.body, body: answer.json(), headers: answer.headers }
    }
    await allow('unauthenticated', 5)
    let i = 0
    const guess = (): Promise<Answered> => send(`glpat-${++i}`, '192.0.2.4')
    assert.deepEqual(await times(6, guess), [401, 401, 401, 401, 401, 429])
    await allow('authenticated', 2)
    const user = await world().make.user()
    assert.deepEqual(await times(3, () => send(user.token, '192.0.2.5')), [404, 404, 429])
  })

  // Beside the interface there are two more doors that tell whether a secret is one.
  test('GEN-38: a guess at the metrics and at an invitation counts', async () => {
    await allow('unauthenticated', 6)
    const knock = async (url: string, token: string): Promise<number> =>
      (await world().app.inject({ url, remoteAddress: '192.0.2.6', headers: { 'private-token': token } }))
        .statusCode
    const statuses: number[] = []
    for (let i = 0; i < 4; i++)
      statuses.push(await knock('/-/metrics', `glpat-${i}`), await knock(`/-/invites?token=${i}`, ''))
    assert.deepEqual(statuses, [401, 404, 401, 404, 401, 404, 429, 429])
  })

  // Refusals are counted too: reading 403 and 404 is how a map is drawn.
  test('GEN-38: requests that are refused count', async () => {
    await allow('authenticated', 8)
    const user = await world().make.user()
    const miss = (): Promise<Answered> => world().get('/groups/none', user)
    assert.deepEqual(await times(9, miss), [404, 404, 404, 404, 404, 404, 404, 404, 429])
  })
})
