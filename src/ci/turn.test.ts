import assert from 'node:assert/strict'
import { before, test } from 'node:test'
import { digestOf } from '../access/tokens.ts'
import type { Project } from '../db/schema/tables.ts'
import type { Job, Runner } from '../db/schema/ci.ts'
import type { Pipeline } from '../db/schema/repositories.ts'
import { makePipeline, makeRunner, statesOf } from '../../test/support/ci_engine.ts'
import { needing, plannedJob } from '../../test/support/planned_jobs.ts'
import type { Someone } from '../../test/support/makers.ts'
import { rowOf, rowsOf } from '../../test/support/rows.ts'
import { sharedWorld } from '../../test/support/stand.ts'
import { findInconsistencies } from './check.ts'
import { cancelRedundant } from './creation/redundant_pipelines.ts'
import { finishJob, playJob, retryJob } from './jobs/actions.ts'
import { cancelPipeline, deletePipeline, retryPipeline } from './pipeline_actions.ts'
import { nextCandidate, startJob } from './runners/queue.ts'
import { cancelJobs, inTurn, type Turn } from './turn.ts'
import { applyTime, PATIENCE } from './watch.ts'
import type { PlannedJob } from './config/plan.ts'

const world = sharedWorld()
let project: Project
let user: Someone
let runner: Runner
before(async () => {
  const { make } = world()
  project = await make.project()
  user = await make.memberOf('developer', { project })
  runner = await makeRunner(world())
})

const pipelineOf = (...jobs: PlannedJob[]): Promise<Pipeline> =>
  makePipeline(world(), project, jobs, { user_id: user.id })
const turn = <Result>(work: (turn: Turn) => Promise<Result>): Promise<Result> =>
  world().opened.client.transaction((tx) => inTurn(tx, project.id, work))
const jobOf = ({ id }: Pipeline, name: string): Promise<Job> =>
  rowOf<Job & Record<string, unknown>>(
    world(),
    'select * from ci_jobs where pipeline_id = $1 and name = $2 and not retried',
    [id, name],
  )
async function run(pipeline: Pipeline, name: string, by: Partial<{ graceful: boolean }> = {}): Promise<Job> {
  const { id } = await jobOf(pipeline, name)
  const started = await turn((now) =>
    startJob(now, id, {
      runner,
      manager_id: null,
      token_digest: digestOf(`token ${id}`),
      cancels_gracefully: by.graceful ?? false,
    }),
  )
  assert.equal(started?.status, 'running', name)
  return started
}
async function end(pipeline: Pipeline, name: string, how: Parameters<typeof finishJob>[2]): Promise<void> {
  const { id } = await jobOf(pipeline, name)
  assert.ok(await turn((now) => finishJob(now, id, how)))
}
const statusOf = async ({ id }: Pipeline): Promise<string> =>
  (await rowOf<{ status: string }>(world(), 'select status from pipelines where id = $1', [id])).status
async function sees(pipeline: Pipeline, status: string, jobs: string): Promise<void> {
  assert.deepEqual([await statusOf(pipeline), await statesOf(world(), pipeline)], [status, jobs])
  assert.deepEqual(await findInconsistencies(world().opened.client), [])
}

test('a pipeline runs stage by stage, and its times follow its jobs', async () => {
  const pipeline = await pipelineOf(
    plannedJob({ name: 'build' }),
    plannedJob({ name: 'test', stage_index: 1 }),
  )
  await sees(pipeline, 'pending', 'build pending, test created')
  const started = await run(pipeline, 'build')
  assert.equal(started.timeout, 3_600)
  await sees(pipeline, 'running', 'build running, test created')
  await end(pipeline, 'build', { status: 'success' })
  await sees(pipeline, 'running', 'build success, test pending')
  await run(pipeline, 'test')
  await end(pipeline, 'test', { status: 'success' })
  await sees(pipeline, 'success', 'build success, test success')
  const row = await rowOf<Pipeline>(world(), 'select * from pipelines where id = $1', [pipeline.id])
  assert.ok(row.started_at && row.finished_at && row.duration !== null)
})

test('a job that fails with an allowed exit code lets the pipeline pass', async () => {
  const job = plannedJob({ name: 'flaky', allow_failure_exit_codes: [42] })
  for (const [exit_code, status] of [
    [42, 'success'],
    [1, 'failed'],
  ] as const) {
    const pipeline = await pipelineOf(job)
    await run(pipeline, 'flaky')
    await end(pipeline, 'flaky', { status: 'failed', failure_reason: 'script_failure', exit_code })
    await sees(pipeline, status, 'flaky failed')
  }
})

test('a failed job is tried again as a new job, as often and for the reasons that it names', async () => {
  const retry = { max: 1, when: ['script_failure'], exit_codes: [] }
  const pipeline = await pipelineOf(plannedJob({ name: 'a', retry }))
  const first = await run(pipeline, 'a')
  await end(pipeline, 'a', { status: 'failed', failure_reason: 'script_failure' })
  await sees(pipeline, 'pending', 'a pending')
  const second = await run(pipeline, 'a')
  assert.notEqual(second.id, first.id)
  await end(pipeline, 'a', { status: 'failed', failure_reason: 'script_failure' })
  await sees(pipeline, 'failed', 'a failed')
  const other = await pipelineOf(plannedJob({ name: 'a', retry }))
  await run(other, 'a')
  await end(other, 'a', { status: 'failed', failure_reason: 'runner_system_failure' })
  await sees(other, 'failed', 'a failed')
})

test('a retried job is a new one, and what was skipped behind it is decided anew', async () => {
  const pipeline = await pipelineOf(
    plannedJob({ name: 'build' }),
    plannedJob({ name: 'test', needs: needing('build') }),
  )
  const { id } = await run(pipeline, 'build')
  await end(pipeline, 'build', { status: 'failed', failure_reason: 'script_failure' })
  await sees(pipeline, 'failed', 'build failed, test skipped')
  const fresh = await turn((now) => retryJob(now, id, user.id))
  assert.ok(fresh !== undefined && fresh !== id)
  await sees(pipeline, 'pending', 'test created, build pending')
  assert.equal(await turn((now) => retryJob(now, id, user.id)), undefined)
})

test('a pipeline that is retried runs what failed once more and keeps what succeeded', async () => {
  const pipeline = await pipelineOf(
    plannedJob({ name: 'a' }),
    plannedJob({ name: 'b' }),
    plannedJob({ name: 'c', stage_index: 1 }),
  )
  await run(pipeline, 'a')
  await run(pipeline, 'b')
  await end(pipeline, 'a', { status: 'success' })
  await end(pipeline, 'b', { status: 'failed' })
  await sees(pipeline, 'failed', 'a success, b failed, c skipped')
  await turn((now) => retryPipeline(now, pipeline.id, user.id))
  await sees(pipeline, 'running', 'a success, c created, b pending')
})

test('a manual job starts when it is played, in the name of who played it', async () => {
  const pipeline = await pipelineOf(plannedJob({ name: 'deploy', when: 'manual' }))
  await sees(pipeline, 'manual', 'deploy manual')
  const { id } = await jobOf(pipeline, 'deploy')
  const other = await world().make.memberOf('developer', { project })
  await turn((now) => playJob(now, id, { user_id: other.id, variables: null }))
  await sees(pipeline, 'pending', 'deploy pending')
  assert.equal((await jobOf(pipeline, 'deploy')).user_id, other.id)
})

test('a delayed job starts when its time has come', async () => {
  const pipeline = await pipelineOf(plannedJob({ name: 'later', when: 'delayed', start_in: 3_600 }))
  const { client } = world().opened
  assert.equal(await applyTime(client), 0)
  await sees(pipeline, 'scheduled', 'later scheduled')
  await rowsOf(world(), "update ci_jobs set scheduled_at = now() - interval '1 s' where pipeline_id = $1", [
    pipeline.id,
  ])
  assert.equal(await applyTime(client), 1)
  await sees(pipeline, 'pending', 'later pending')
})

test('a running job is canceled gracefully where its runner can', async () => {
  const pipeline = await pipelineOf(plannedJob({ name: 'a' }), plannedJob({ name: 'b' }))
  await run(pipeline, 'a', { graceful: true })
  await run(pipeline, 'b')
  await turn((now) => cancelPipeline(now, pipeline.id))
  await sees(pipeline, 'canceling', 'a canceling, b canceled')
  await end(pipeline, 'a', { status: 'success' })
  await sees(pipeline, 'canceled', 'a canceled, b canceled')
})

test('one failed job cancels the others where the configuration says so', async () => {
  const pipeline = await pipelineOf(plannedJob({ name: 'a' }), plannedJob({ name: 'b' }))
  await rowsOf(world(), "update pipelines set on_job_failure = 'all' where id = $1", [pipeline.id])
  await run(pipeline, 'a')
  await run(pipeline, 'b')
  await end(pipeline, 'a', { status: 'failed' })
  await sees(pipeline, 'failed', 'a failed, b canceled')
})

test('a newer commit cancels older pipelines of its ref as far as they let it', async () => {
  const job = (name: string, interruptible: boolean): PlannedJob => plannedJob({ name, interruptible })
  const cases = [
    ['conservative', 'yes', 'yes canceled, no canceled'],
    ['conservative', 'no', 'yes pending, no running'],
    ['interruptible', 'no', 'yes canceled, no running'],
    ['none', 'yes', 'yes running, no pending'],
  ] as const
  for (const [mode, started, expected] of cases) {
    const old = await pipelineOf(job('yes', true), job('no', false))
    await rowsOf(world(), 'update pipelines set on_new_commit = $2 where id = $1', [old.id, mode])
    await run(old, started)
    const newer = await pipelineOf()
    const by = { id: newer.id, ref: 'main', sha: 'b'.repeat(40) }
    await turn((now) => cancelRedundant(now, by, by.sha))
    assert.equal(await statesOf(world(), old), expected, mode)
    await turn((now) => cancelPipeline(now, old.id))
  }
})

test('a runner that is not heard of loses its job, and the resource goes to the next', async () => {
  const [first, second] = await Promise.all(
    ['x', 'x'].map(() => pipelineOf(plannedJob({ name: 'deploy', resource_group: 'lost' }))),
  )
  assert.ok(first && second)
  const [one, two] = [first, second].toSorted((a, b) => a.id - b.id)
  assert.ok(one && two)
  await run(one, 'deploy')
  await sees(two, 'waiting_for_resource', 'deploy waiting_for_resource')
  await rowsOf(world(), "update ci_jobs set contacted_at = now() - interval '1 h' where pipeline_id = $1", [
    one.id,
  ])
  assert.equal(await applyTime(world().opened.client), 1)
  await sees(one, 'failed', 'deploy failed')
  assert.equal((await jobOf(one, 'deploy')).failure_reason, 'stuck_or_timeout_failure')
  await sees(two, 'pending', 'deploy pending')
  await turn((now) => cancelPipeline(now, two.id))
})

test('a job whose runner never said a word returns to the queue, and keeps its resource', async () => {
  const pipeline = await pipelineOf(plannedJob({ name: 'deploy', resource_group: 'unheard' }))
  await run(pipeline, 'deploy')
  const before = await jobOf(pipeline, 'deploy')
  assert.equal(await applyTime(world().opened.client), 0)
  await rowsOf(world(), "update ci_jobs set started_at = now() - interval '61 s' where pipeline_id = $1", [
    pipeline.id,
  ])
  assert.equal(await applyTime(world().opened.client), 1)
  await sees(pipeline, 'pending', 'deploy pending')
  const { token_digest, runner_id, started_at, queued_at } = await jobOf(pipeline, 'deploy')
  assert.deepEqual([token_digest, runner_id, started_at], [null, null, null])
  assert.deepEqual(queued_at, before.queued_at)
  await run(pipeline, 'deploy')
  await rowsOf(
    world(),
    "update ci_jobs set started_at = now() - interval '61 s', contacted_at = now() where pipeline_id = $1",
    [pipeline.id],
  )
  assert.equal(await applyTime(world().opened.client), 0)
  await turn((now) => cancelPipeline(now, pipeline.id))
})

test('a job that outlives its timeout fails, and one that nobody takes for a day', async () => {
  const pipeline = await pipelineOf(
    plannedJob({ name: 'slow', timeout: 60 }),
    plannedJob({ name: 'odd', tags: ['no'] }),
  )
  await run(pipeline, 'slow')
  const { id } = pipeline
  await rowsOf(
    world(),
    `update ci_jobs set started_at = now() - interval '10 min', contacted_at = now()
      where pipeline_id = ${id} and name = 'slow'`,
  )
  await rowsOf(
    world(),
    `update ci_jobs set queued_at = now() - interval '2 days' where pipeline_id = ${id} and name = 'odd'`,
  )
  assert.equal(await applyTime(world().opened.client, PATIENCE), 2)
  assert.deepEqual(
    [(await jobOf(pipeline, 'slow')).failure_reason, (await jobOf(pipeline, 'odd')).failure_reason],
    ['job_execution_timeout', 'stuck_or_timeout_failure'],
  )
})

test('a deleted pipeline gives its resource to the next job', async () => {
  const job = plannedJob({ name: 'deploy', resource_group: 'deleted' })
  const one = await pipelineOf(job)
  const two = await pipelineOf(job)
  await run(one, 'deploy')
  assert.ok(await turn((now) => deletePipeline(now, one.id)))
  await sees(two, 'pending', 'deploy pending')
  await turn((now) => cancelPipeline(now, two.id))
})

test('of twenty runners that want one job one gets it', async () => {
  const pipeline = await pipelineOf(plannedJob({ name: 'wanted', tags: ['rare'] }))
  const rare = await makeRunner(world(), { tag_list: ['rare'], run_untagged: false })
  const candidate = await nextCandidate(world().opened.client, rare)
  const { id } = await jobOf(pipeline, 'wanted')
  assert.equal(candidate?.id, id)
  const got = await Promise.all(
    Array.from({ length: 20 }, (_, at) =>
      turn((now) =>
        startJob(now, id, {
          runner: rare,
          manager_id: null,
          token_digest: digestOf(`rare ${at}`),
          cancels_gracefully: false,
        }),
      ),
    ),
  )
  assert.equal(got.filter((job) => job !== undefined).length, 1)
  await turn((now) => cancelJobs(now, [id]))
})
