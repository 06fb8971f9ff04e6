import assert from 'node:assert/strict'
import { after, afterEach, before, test } from 'node:test'
import cube from '@cubejs-client/core'
import { setFeature, setSetting } from '../../core/settings/settings.ts'
import type { Project } from '../../db/schema/tables.ts'
import {
  openEngine,
  recorded,
  send,
  useEngine,
  type AnalyticsEngine,
} from '../../../test/support/analytics_engine.ts'
import type { Someone } from '../../../test/support/makers.ts'
import { sharedWorld } from '../../../test/support/stand.ts'
import type { Answered } from '../../../test/support/world.ts'

let engine: AnalyticsEngine
let project: Project
let [developer, maintainer]: Someone[] = []
const world = sharedWorld(async (here) => {
  engine = await openEngine()
  await useEngine(here, engine)
  project = await here.make.project({ group: await here.make.group() })
  developer = await here.make.memberOf('developer', { project })
  maintainer = await here.make.memberOf('maintainer', { project })
})
before(() => assert.ok(developer && maintainer))
after(() => engine.close())
afterEach(() => {
  engine.behave()
  engine.requests.length = 0
})

const query = { measures: ['TrackedEvents.count'], limit: 3 }
const ask = (
  operation: 'load' | 'dry-run' | 'meta',
  body: object = operation === 'meta' ? {} : { query },
  as = developer,
): Promise<Answered> =>
  world().call('POST', `/projects/${project.id}/product_analytics/request/${operation}`, { as, body })
const answer = ({ status, body }: Answered): [number, unknown] => [status, body]

test("the engine's answers pass as they are, with status 200; a plan has null results", async () => {
  for (const operation of ['load', 'dry-run', 'meta'] as const) {
    const { status, body, headers } = await ask(operation)
    const sent = JSON.parse(recorded(operation).body) as object
    assert.deepEqual([status, body], [200, operation === 'dry-run' ? { ...sent, results: null } : sent])
    assert.equal(headers['content-type'], 'application/json')
  }
  const { body } = await world().get(`/projects/${project.id}/product_analytics/request/meta`, developer)
  assert.deepEqual(body, JSON.parse(recorded('meta').body))
})

test('queries are posted as JSON with their type, which is multi where none is given', async () => {
  await ask('load', { query, other: 1 })
  await ask('dry-run', { query, queryType: 'compareDateRange' })
  await ask('meta')
  await world().call('POST', `/projects/${project.id}/product_analytics/request/load`, {
    as: developer,
    query: { queryType: 'regularQuery' },
    body: { query },
  })
  assert.deepEqual(
    engine.requests.map(({ method, path, body }) => [method, path, body]),
    [
      ['POST', '/cubejs-api/v1/load', { query, queryType: 'multi' }],
      ['POST', '/cubejs-api/v1/dry-run', { query, queryType: 'compareDateRange' }],
      ['GET', '/cubejs-api/v1/meta', null],
      ['POST', '/cubejs-api/v1/load', { query, queryType: 'regularQuery' }],
    ],
  )
})

test('the token names project and issuer, and lasts three minutes', async () => {
  await ask('load')
  const { iat = 0, ...claims } = engine.requests[0]?.claims ?? {}
  assert.deepEqual(claims, { exp: iat + 180, appId: `gitlab_project_${project.id}`, iss: 'guild.example' })
})

test('a token of the project goes along when asked for, and lasts a day', async () => {
  await ask('load', { query, include_token: true }, maintainer)
  const token = engine.requests[0]?.claims['gitlabToken']
  assert.ok(typeof token === 'string')
  const bearer = { ...maintainer, token } as Someone
  const self = await world().get('/personal_access_tokens/self', bearer)
  const { scopes, expires_at } = self.body as { scopes: string[]; expires_at: string }
  const tomorrow = new Date(Date.now() + 86_400_000).toISOString().slice(0, 10)
  assert.deepEqual([scopes, expires_at], [['read_api'], tomorrow])
  assert.equal((await world().get(`/projects/${project.id}`, bearer)).status, 200)
  assert.ok(!world().logs.join('').includes(token))
})

test('a caller who may make no tokens asks without one', async () => {
  await ask('load', { query, include_token: true })
  assert.equal(engine.requests[0]?.claims['gitlabToken'], undefined)
})

test('parameters are checked before the project is looked up; a path is no project id', async () => {
  const call = async (id: string, body: object): Promise<[number, unknown]> =>
    answer(
      await world().call('POST', `/projects/${id}/product_analytics/request/load`, { as: developer, body }),
    )
  assert.deepEqual(await call('999999', {}), [400, { error: 'query is missing' }])
  assert.deepEqual(await call('999999', { query: 'x' }), [400, { error: 'query is invalid' }])
  assert.deepEqual(await call('999999', { query: [query] }), [400, { error: 'query is invalid' }])
  assert.deepEqual(await call(encodeURIComponent(project.full_path), { query }), [
    400,
    { error: 'project_id is invalid' },
  ])
  assert.deepEqual(await call('999999', { query }), [404, { message: '404 Project Not Found' }])
  assert.equal(engine.requests.length, 0)
})

test('without licence, flag, engine, or where the project has no analytics, they are not enabled', async () => {
  const { db, settings } = world().opened.instance
  const { make } = world()
  const notEnabled = [404, { message: 'Product Analytics is not enabled' }]
  const reset = `
    delete from features; delete from settings where name = 'tier';
    update projects set settings = settings - 'analytics_access_level' where id = ${project.id}`
  for (const shut of [
    () => setFeature(db, 'product_analytics_features', false),
    () => setSetting(db, 'tier', 'premium'),
    () => setSetting(db, 'tier', 'free'),
    () => setSetting(db, 'analytics_api_base_url', ''),
    () => setSetting(db, 'analytics_api_key', ''),
    () =>
      make.sql(
        `update projects set settings = settings || '{"analytics_access_level":"disabled"}' where id = ${project.id}`,
      ),
  ]) {
    await shut()
    await settings.reload()
    for (const operation of ['load', 'dry-run', 'meta'] as const)
      assert.deepEqual(answer(await ask(operation)), notEnabled, String(shut))
    await make.sql(reset)
    await useEngine(world(), engine)
  }
  const owner = await make.user()
  const own = await world().call('POST', '/projects', { as: owner, body: { name: 'own' } })
  const path = `/projects/${(own.body as Project).id}/product_analytics/request/meta`
  assert.deepEqual(answer(await world().get(path, owner)), notEnabled)
  assert.equal(engine.requests.length, 0)
  assert.equal((await ask('meta')).status, 200)
})

test('below Developer access is denied with 401, and the engine is not asked', async () => {
  for (const role of ['guest', 'planner', 'reporter'] as const) {
    const member = await world().make.memberOf(role, { project })
    assert.deepEqual(answer(await ask('load', { query }, member)), [401, { message: 'Access Denied' }])
  }
  assert.equal(engine.requests.length, 0)
})

test('an archived project can still be asked about', async () => {
  const { make } = world()
  await make.sql(`update projects set archived = true where id = ${project.id}`)
  assert.equal((await ask('load')).status, 200)
  await make.sql(`update projects set archived = false where id = ${project.id}`)
})

test('errors of the engine are mapped by their text, whatever their status', async () => {
  const cases: [number, string, number, object][] = [
    [200, '{"error":"Continue wait"}', 200, { error: 'Continue wait' }],
    [200, '{"error":"Query is invalid"}', 400, { message: 'Query is invalid' }],
    [500, '{"error":"Query is invalid"}', 400, { message: 'Query is invalid' }],
    [400, recorded('load-badquery').body, 400, { message: 'Invalid query format: "foo" is not allowed' }],
    [
      500,
      '{"error":"Error: Code: 81. DB::Exception: Database x does not exist. (UNKNOWN_DATABASE)"}',
      404,
      { message: '404 Clickhouse Database Not Found' },
    ],
    [
      500,
      '{"error":"Error: Code: 60. DB::Exception: Table x does not exist. (UNKNOWN_TABLE)"}',
      404,
      { message: '404 Clickhouse Database Not Found' },
    ],
    [200, '<html>', 502, { message: 'The analytics engine did not respond with JSON' }],
    [200, '[]', 502, { message: 'The analytics engine did not respond with JSON' }],
    [
      200,
      `{"a":${'['.repeat(200)}${']'.repeat(200)}}`,
      502,
      { message: 'The analytics engine did not respond with JSON' },
    ],
    [503, '{}', 502, { message: 'The analytics engine responded with status 503' }],
  ]
  for (const [status, body, expected, shown] of cases) {
    engine.behave((_, response) => send(response, status, body))
    for (const operation of ['load', 'dry-run', 'meta'] as const)
      assert.deepEqual(answer(await ask(operation)), [expected, shown], body)
  }
})

test("the engine's stack traces are not shown", async () => {
  const body = { query: { measures: ['Sessions.nope'] } }
  const refusal = await ask('load', body)
  assert.deepEqual(answer(refusal), [400, { message: "Cube 'Nope' not found for path 'Nope.count'" }])
})

test('a member of another cube is refused as one that is not there, and never asked for', async () => {
  assert.deepEqual(answer(await ask('load', { query: { measures: ['Nope.count'] } })), [
    400,
    { message: "Cube 'Nope' not found for path 'Nope.count'" },
  ])
  assert.equal(engine.requests.length, 0)
})

test('meta shows the cubes of projects and no other', async () => {
  const cubes = ['TrackedEvents', 'Payroll', 'Sessions'].map((name) => ({ name, measures: [] }))
  engine.behave((_, response) => send(response, 200, JSON.stringify({ cubes })))
  const { body } = await ask('meta')
  assert.deepEqual(
    (body as { cubes: { name: string }[] }).cubes.map(({ name }) => name),
    ['TrackedEvents', 'Sessions'],
  )
})

test('days that a range spans and that have no row are filled', async () => {
  const day = 'TrackedEvents.utcTime.day'
  const row = (date: string, count: string): object => ({
    [day]: `${date}T00:00:00.000`,
    'TrackedEvents.utcTime': `${date}T00:00:00.000`,
    'TrackedEvents.count': count,
  })
  const filter = {
    member: 'TrackedEvents.utcTime',
    operator: 'inDateRange',
    values: ['2026-11-19', '2026-11-21'],
  }
  const { body } = await ask('load', { query: { ...query, filters: [filter] } })
  const [result] = (body as { results: { data: object[] }[] }).results
  assert.deepEqual(result?.data, [
    { 'TrackedEvents.pageTitle': 'Home', ...row('2026-11-20', '42') },
    row('2026-11-19', '0'),
    row('2026-11-21', '0'),
  ])
})

test("the engine's own client works against the interface", async () => {
  const { app } = world()
  const address = await app.listen({ port: 0, host: '127.0.0.1' })
  const client = cube('ignored', {
    apiUrl: `${address}/api/v4/projects/${project.id}/product_analytics/request`,
    headers: { 'PRIVATE-TOKEN': developer?.token ?? '' },
    method: 'POST',
  })
  const rows = (await client.load(query)).tablePivot()
  assert.deepEqual(rows[0]?.['TrackedEvents.count'], '42')
  assert.equal((await client.dryRun(query)).queryType, 'regularQuery')
  assert.deepEqual(
    (await client.meta()).cubes.map(({ name }) => name),
    ['TrackedEvents'],
  )
  await assert.rejects(client.load({ measures: ['Nope.count'] }), {
    status: 400,
    response: { message: "Cube 'Nope' not found for path 'Nope.count'" },
  })
})
