import assert from 'node:assert/strict'
import { after, afterEach, before, test } from 'node:test'
import { rowsOf } from '../../../test/support/rows.ts'
import type { Someone } from '../../../test/support/makers.ts'
import { openWorld, type Answered, type CallOptions, type World } from '../../../test/support/world.ts'
import { DEFAULT_LIMITS } from '../../core/settings/plan_limits.ts'

const PATH = '/application/plan_limits'

let world: World
let admin: Someone
before(async () => {
  world = await openWorld()
  admin = await world.make.admin()
})
afterEach(() =>
  world.make.sql(
    "delete from plan_limits where plan_name <> 'default'; update plan_limits set limits = '{}' where limits <> '{}'",
  ),
)
after(() => world.close())

const put = (options: CallOptions): Promise<Answered> => world.call('PUT', PATH, { as: admin, ...options })
const own = async (): Promise<object[]> =>
  rowsOf(world, 'select plan_name, limits from plan_limits order by plan_name')
const UNTOUCHED = [{ plan_name: 'default', limits: {} }]

test('an administrator reads the limits of the default plan without naming it', async () => {
  const answer = await world.get(PATH, admin)
  assert.equal(answer.status, 200, answer.text)
  assert.equal(answer.headers['content-type'], 'application/json')
  assert.deepEqual(answer.body, DEFAULT_LIMITS)
  assert.deepEqual(Object.keys(answer.body as object), Object.keys(DEFAULT_LIMITS))
  assert.deepEqual((await world.get(`${PATH}?plan_name=default`, admin)).body, DEFAULT_LIMITS)
})

test('a plan that the interface knows and the instance lacks is not found', async () => {
  for (const name of ['free', 'premium', 'ultimate_trial', 'opensource']) {
    const got = await world.get(`${PATH}?plan_name=${name}`, admin)
    assert.deepEqual([got.status, got.body], [404, { message: '404 Plan Not Found' }])
    const set = await put({ body: { plan_name: name, ci_pipeline_size: 5 } })
    assert.deepEqual([set.status, set.body], [404, { message: '404 Plan Not Found' }])
  }
  assert.deepEqual(await own(), UNTOUCHED)
})

test('a plan that exists has limits of its own', async () => {
  await world.make.sql("insert into plan_limits (plan_name) values ('premium')")
  assert.deepEqual((await put({ body: { plan_name: 'premium', dotenv_size: 1 } })).body, {
    ...DEFAULT_LIMITS,
    dotenv_size: 1,
  })
  assert.deepEqual((await world.get(`${PATH}?plan_name=premium`, admin)).body, {
    ...DEFAULT_LIMITS,
    dotenv_size: 1,
  })
  assert.deepEqual((await world.get(PATH, admin)).body, DEFAULT_LIMITS)
})

test('a change sets what it names and leaves the rest as it was', async () => {
  const first = await put({ body: { plan_name: 'default', ci_pipeline_size: 7, helm_max_file_size: 0 } })
  assert.equal(first.status, 200, first.text)
  assert.deepEqual(first.body, { ...DEFAULT_LIMITS, ci_pipeline_size: 7, helm_max_file_size: 0 })
  const second = await put({ body: { plan_name: 'default', storage_size_limit: 80 } })
  const both = { ...DEFAULT_LIMITS, ci_pipeline_size: 7, helm_max_file_size: 0, storage_size_limit: 80 }
  assert.deepEqual([second.status, second.body], [200, both])
  assert.deepEqual((await world.get(PATH, admin)).body, both)
})

test('every one of the limits can be changed', async () => {
  const wanted = Object.fromEntries(Object.keys(DEFAULT_LIMITS).map((name, i) => [name, 1_000 + i]))
  const answer = await put({ body: { plan_name: 'default', ...wanted } })
  assert.deepEqual([answer.status, answer.body], [200, wanted])
  assert.deepEqual((await world.get(PATH, admin)).body, wanted)
})

test('the storage limits need no order among themselves', async () => {
  const odd = { storage_size_limit: 90, notification_limit: 50, enforcement_limit: 10 }
  const answer = await put({ body: { plan_name: 'default', ...odd } })
  assert.deepEqual([answer.status, answer.body], [200, { ...DEFAULT_LIMITS, ...odd }])
})

test('limits come by query, form and JSON, as text or as numbers, and the body wins', async () => {
  const sent: [CallOptions, Partial<typeof DEFAULT_LIMITS> | Record<string, number>][] = [
    [{ query: { plan_name: 'default', ci_active_jobs: '3' }, body: {} }, { ci_active_jobs: 3 }],
    [
      {
        body: 'plan_name=default&ci_needs_size_limit=4',
        headers: { 'content-type': 'application/x-www-form-urlencoded' },
      },
      { ci_active_jobs: 3, ci_needs_size_limit: 4 },
    ],
    [
      { query: { plan_name: 'default', ci_active_jobs: '8' }, body: { ci_active_jobs: '9' } },
      { ci_active_jobs: 9, ci_needs_size_limit: 4 },
    ],
  ]
  for (const [options, changed] of sent) {
    const answer = await put(options)
    assert.deepEqual([answer.status, answer.body], [200, { ...DEFAULT_LIMITS, ...changed }])
  }
})

test('undeclared parameters are ignored, and the plan alone changes nothing', async () => {
  for (const body of [
    { plan_name: 'default' },
    { plan_name: 'default', hello: 'world', limits: { ci_pipeline_size: 1 }, pipeline_hierarchy_size: 5 },
    { plan_name: 'default', ci_pipeline_size: null },
  ]) {
    const answer = await put({ body })
    assert.deepEqual([answer.status, answer.body], [200, DEFAULT_LIMITS])
  }
  assert.deepEqual(await own(), UNTOUCHED)
})

test('every bad parameter is named, in the order of declaration, and nothing is changed', async () => {
  const rows: [object, string][] = [
    [{}, 'plan_name is missing'],
    [{ ci_pipeline_size: 1 }, 'plan_name is missing'],
    [{ plan_name: '' }, 'plan_name does not have a valid value'],
    [{ plan_name: 'DEFAULT' }, 'plan_name does not have a valid value'],
    [{ plan_name: 'my-plan', ci_pipeline_size: 1 }, 'plan_name does not have a valid value'],
    [{ plan_name: 'default', ci_pipeline_size: 'z' }, 'ci_pipeline_size is invalid'],
    [{ plan_name: 'default', ci_pipeline_size: 1.5 }, 'ci_pipeline_size is invalid'],
    [{ plan_name: 'default', ci_pipeline_size: '1e3' }, 'ci_pipeline_size is invalid'],
    [{ plan_name: 'default', ci_pipeline_size: true }, 'ci_pipeline_size is invalid'],
    [{ plan_name: 'default', ci_pipeline_size: [1] }, 'ci_pipeline_size is invalid'],
    [{ plan_name: 'default', ci_pipeline_size: '99999999999999999999' }, 'ci_pipeline_size is invalid'],
    [
      { storage_size_limit: 'x', helm_max_file_size: 1, dotenv_size: {}, ci_pipeline_size: 'y' },
      'plan_name is missing, ci_pipeline_size is invalid, dotenv_size is invalid, storage_size_limit is invalid',
    ],
    [
      { plan_name: 'default', ...Object.fromEntries(Object.keys(DEFAULT_LIMITS).map((name) => [name, 'a'])) },
      Object.keys(DEFAULT_LIMITS)
        .map((name) => `${name} is invalid`)
        .join(', '),
    ],
  ]
  for (const [body, error] of rows) {
    const answer = await put({ body })
    assert.deepEqual([answer.status, answer.body], [400, { error }])
  }
  const got = await world.get(`${PATH}?plan_name=nothing`, admin)
  assert.deepEqual([got.status, got.body], [400, { error: 'plan_name does not have a valid value' }])
  assert.deepEqual(await own(), UNTOUCHED)
})

test('a limit below zero is refused by its name, and the good ones beside it are not kept', async () => {
  const answer = await put({
    body: { plan_name: 'default', ci_pipeline_size: 5, notification_limit: -1, dotenv_size: '-2' },
  })
  const below = ['must be greater than or equal to 0']
  assert.deepEqual(
    [answer.status, answer.body],
    [400, { message: { dotenv_size: below, notification_limit: below } }],
  )
  assert.deepEqual(await own(), UNTOUCHED)
})

test('only administrators come near, whatever else is wrong with the request', async () => {
  const owner = await world.make.memberOf('owner', { group: await world.make.group() })
  const cases: [Someone | undefined, number, string][] = [
    [undefined, 401, '401 Unauthorized'],
    [owner, 403, '403 Forbidden'],
  ]
  for (const [as, status, message] of cases) {
    for (const body of [
      { plan_name: 'default', ci_pipeline_size: 1 },
      {},
      { plan_name: 'x', dotenv_size: 'y' },
    ]) {
      const answer = await world.call('PUT', PATH, { as, body })
      assert.deepEqual([answer.status, answer.body], [status, { message }])
    }
    const read = await world.call('GET', PATH, { as, query: { plan_name: 'x' } })
    assert.deepEqual([read.status, read.body], [status, { message }])
  }
  assert.deepEqual(await own(), UNTOUCHED)
})

test('administrators who change different limits at once lose nothing', async () => {
  const names = Object.keys(DEFAULT_LIMITS)
  const others = await Promise.all([world.make.admin(), world.make.admin(), world.make.admin()])
  const answers = await Promise.all(
    names.map((name, i) =>
      put({ as: others[i % others.length], body: { plan_name: 'default', [name]: 100 + i } }),
    ),
  )
  assert.deepEqual(
    answers.map(({ status }) => status),
    names.map(() => 200),
  )
  assert.deepEqual(
    (await world.get(PATH, admin)).body,
    Object.fromEntries(names.map((name, i) => [name, 100 + i])),
  )
})

test('a hosted offering has no plan limits to show', async () => {
  const hosted = await openWorld({ env: { GUILDHALL_OFFERING: 'hosted' } })
  try {
    const as = await hosted.make.admin()
    for (const method of ['GET', 'PUT'] as const) {
      const answer = await hosted.call(method, PATH, { as, ...(method === 'PUT' && { body: {} }) })
      assert.deepEqual([answer.status, answer.body], [404, { error: '404 Not Found' }])
    }
  } finally {
    await hosted.close()
  }
})
