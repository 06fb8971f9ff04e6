import assert from 'node:assert/strict'
import { before, test } from 'node:test'
import { makePipeline } from '../../../test/support/ci_engine.ts'
import type { Someone } from '../../../test/support/makers.ts'
import { plannedJob } from '../../../test/support/planned_jobs.ts'
import { rowsOf } from '../../../test/support/rows.ts'
import { listOf, pick } from '../../../test/support/shares.ts'
import { sharedWorld } from '../../../test/support/stand.ts'
import type { Answered } from '../../../test/support/world.ts'
import type { Project } from '../../db/schema/tables.ts'

const world = sharedWorld()
let project: Project
let developer: Someone
before(async () => {
  const { make } = world()
  project = await make.project({ repository: 'empty' })
  developer = await make.memberOf('developer', { project })
})

const path = (key?: string, more = ''): string =>
  `/projects/${project.id}/resource_groups${key === undefined ? '' : `/${encodeURIComponent(key)}`}${more}`
const get = (key?: string, more?: string): Promise<Answered> => world().get(path(key, more), developer)
const change = (key: string, body: object): Promise<Answered> =>
  world().call('PUT', path(key), { as: developer, body })
const waits = (key: string, name = 'deploy'): ReturnType<typeof makePipeline> =>
  makePipeline(world(), project, [plannedJob({ name, resource_group: key })], { user_id: developer.id })

test('keys with slashes and dots are one segment of the address', async () => {
  for (const key of ['test/test', 'test..test', 'a b', '{x}$-_']) {
    await waits(key)
    const answer = await get(key)
    assert.equal(answer.status, 200, answer.text)
    const { id, created_at, updated_at, ...rest } = answer.body as Record<string, unknown>
    assert.deepEqual(rest, { key, process_mode: 'unordered' })
    assert.ok(Number.isInteger(id) && typeof created_at === 'string' && created_at === updated_at)
  }
  const list = await get()
  assert.deepEqual(pick(list, 'key'), ['test/test', 'test..test', 'a b', '{x}$-_'])
  assert.equal(list.headers['x-total'], '4')
})

test('an unknown key is not found before the role is asked for', async () => {
  const reporter = await world().make.memberOf('reporter', { project })
  await waits('known')
  const ask = async (key: string): Promise<number> => (await world().get(path(key), reporter)).status
  assert.deepEqual([await ask('known'), await ask('unknown')], [403, 404])
  const missing = await get('unknown')
  assert.deepEqual([missing.status, missing.body], [404, { message: '404 Not found' }])
})

test('a mode that is none is refused before the role is asked for', async () => {
  await waits('modes')
  const reporter = await world().make.memberOf('reporter', { project })
  for (const as of [developer, reporter])
    for (const process_mode of ['newest_ready_first', '', 'Unordered']) {
      const answer = await world().call('PUT', path('modes'), { as, body: { process_mode } })
      assert.deepEqual(
        [answer.status, answer.body],
        [400, { error: 'process_mode does not have a valid value' }],
      )
    }
})

test('a change answers the whole group, and without a mode it changes nothing', async () => {
  await waits('changed')
  const before = (await get('changed')).body as Record<string, unknown>
  assert.deepEqual((await change('changed', {})).body, before)
  const answer = await change('changed', { process_mode: 'oldest_first' })
  assert.equal(answer.status, 200)
  const after = answer.body as Record<string, unknown>
  assert.deepEqual(after, { ...before, process_mode: 'oldest_first', updated_at: after['updated_at'] })
  assert.ok(String(after['updated_at']) > String(before['updated_at']))
  assert.deepEqual((await get('changed')).body, after)
})

test('upcoming jobs stand in the order in which they will run, by mode', async () => {
  const [first, second, third] = [await waits('order'), await waits('order'), await waits('order')]
  const upcoming = async (): Promise<unknown[]> =>
    listOf(await get('order', '/upcoming_jobs')).map((job) => (job['pipeline'] as { id: number }).id)
  assert.deepEqual(await upcoming(), [second.id, third.id])
  await change('order', { process_mode: 'newest_first' })
  assert.deepEqual(await upcoming(), [third.id, second.id])
  await change('order', { process_mode: 'oldest_first' })
  assert.deepEqual(await upcoming(), [second.id, third.id])
  assert.ok(!(await upcoming()).includes(first.id), 'the job that holds the resource is not upcoming')
})

test('ordered modes list jobs that are not ready yet, ready ones of a pipeline first', async () => {
  const jobs = [
    plannedJob({ name: 'build' }),
    plannedJob({ name: 'later', stage_index: 1, resource_group: 'ready' }),
    plannedJob({ name: 'now', resource_group: 'ready' }),
  ]
  await waits('ready', 'holder')
  await makePipeline(world(), project, jobs, { user_id: developer.id })
  const names = async (): Promise<unknown[]> => pick(await get('ready', '/upcoming_jobs'), 'name')
  assert.deepEqual(await names(), ['now'])
  await change('ready', { process_mode: 'oldest_first' })
  assert.deepEqual(await names(), ['now', 'later'])
})

test('an upcoming job has the specified fields', async () => {
  await waits('shape', 'holder')
  const pipeline = await waits('shape', 'waiter')
  const [job = {}] = listOf(await get('shape', '/upcoming_jobs'))
  const { id, user, pipeline: shown, created_at, commit, ...rest } = job
  assert.deepEqual(rest, {
    status: 'waiting_for_resource',
    stage: 'stage-0',
    name: 'waiter',
    ref: 'main',
    tag: false,
    coverage: null,
    allow_failure: false,
    started_at: null,
    finished_at: null,
    erased_at: null,
    duration: null,
    queued_duration: null,
    web_url: `https://guild.example/${project.full_path}/-/jobs/${String(id)}`,
    project: { ci_job_token_scope_enabled: false },
  })
  assert.equal(commit, null)
  assert.ok(typeof created_at === 'string')
  const { username, bot, following, local_time } = user as Record<string, unknown>
  assert.deepEqual([username, bot, following, local_time], [developer.username, false, 0, null])
  assert.deepEqual(
    [(shown as { id: number }).id, (shown as { status: string }).status],
    [pipeline.id, 'waiting_for_resource'],
  )
})

test('a change of mode starts the job that may run now', async () => {
  const blocked = await makePipeline(
    world(),
    project,
    [
      plannedJob({ name: 'gate', when: 'manual' }),
      plannedJob({ name: 'deploy', stage_index: 1, resource_group: 'switch' }),
    ],
    { user_id: developer.id },
  )
  await change('switch', { process_mode: 'oldest_first' })
  const ready = await waits('switch')
  const states = async (): Promise<unknown[]> =>
    (
      await rowsOf<{ status: string }>(
        world(),
        "select status from ci_jobs where pipeline_id in ($1, $2) and name = 'deploy' order by id",
        [blocked.id, ready.id],
      )
    ).map(({ status }) => status)
  assert.deepEqual(await states(), ['created', 'waiting_for_resource'])
  await change('switch', { process_mode: 'newest_first' })
  assert.deepEqual(await states(), ['created', 'pending'])
})
