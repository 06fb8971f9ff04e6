import assert from 'node:assert/strict'
import { before, beforeEach, test } from 'node:test'
import { digestOf } from '../../access/tokens.ts'
import type { Project } from '../../db/schema/tables.ts'
import type { Job, Runner } from '../../db/schema/ci.ts'
import type { Deployment, Environment } from '../../db/schema/delivery.ts'
import type { Pipeline } from '../../db/schema/repositories.ts'
import { makePipeline, makeRunner, statesOf } from '../../../test/support/ci_engine.ts'
import { plannedJob } from '../../../test/support/planned_jobs.ts'
import type { Someone } from '../../../test/support/makers.ts'
import { rowOf, rowsOf } from '../../../test/support/rows.ts'
import { sharedWorld } from '../../../test/support/stand.ts'
import { findInconsistencies } from '../check.ts'
import type { PlannedEnvironment, PlannedJob } from '../config/plan.ts'
import { applyEnvironmentTimes, stopEnvironment } from './environments.ts'
import { finishJob, playJob, retryJob, returnJob } from '../jobs/actions.ts'
import { deletePipeline } from '../pipeline_actions.ts'
import { startJob } from '../runners/queue.ts'
import { cancelJobs, inTurn, type Turn } from '../turn.ts'

const world = sharedWorld()
let project: Project
let user: Someone
let runner: Runner
before(async () => {
  runner = await makeRunner(world())
})
beforeEach(async () => {
  project = await world().make.project()
  user = await world().make.memberOf('developer', { project })
})

const place = (name: string, more: Partial<PlannedEnvironment> = {}): PlannedEnvironment => ({
  name,
  url: null,
  action: 'start',
  on_stop: null,
  auto_stop_in: null,
  tier: null,
  ...more,
})
const deploy = (name: string, more: Partial<PlannedEnvironment> = {}): PlannedJob =>
  plannedJob({ name: 'deploy', environment: place(name, more) })
const stop = (name: string, more: Partial<PlannedJob> = {}): PlannedJob =>
  plannedJob({
    name: 'stop',
    stage_index: 1,
    when: 'manual',
    allow_failure: true,
    environment: place(name, { action: 'stop' }),
    ...more,
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
async function run(pipeline: Pipeline, name: string): Promise<Job> {
  const { id } = await jobOf(pipeline, name)
  const token_digest = digestOf(`environment ${id}`)
  const hand = { runner, manager_id: null, token_digest, cancels_gracefully: false }
  const started = await turn((now) => startJob(now, id, hand))
  assert.equal(started?.status, 'running', name)
  return started
}
async function end(
  pipeline: Pipeline,
  name: string,
  status: 'success' | 'failed' = 'success',
): Promise<void> {
  const { id } = await run(pipeline, name)
  await turn((now) => finishJob(now, id, { status }))
}
const environments = (): Promise<Environment[]> =>
  rowsOf<Environment & Record<string, unknown>>(
    world(),
    'select * from environments where project_id = $1 order by id',
    [project.id],
  )
async function environment(): Promise<Environment> {
  const [row, ...more] = await environments()
  assert.ok(row && more.length === 0)
  return row
}
const deployments = (): Promise<Deployment[]> =>
  rowsOf<Deployment & Record<string, unknown>>(
    world(),
    'select * from deployments where project_id = $1 order by id',
    [project.id],
  )
async function statuses(): Promise<string> {
  assert.deepEqual(await findInconsistencies(world().opened.client), [])
  return (await deployments()).map(({ iid, status }) => `${iid} ${status}`).join(', ')
}

test('a pipeline makes the environments of its jobs, each once', async () => {
  await pipelineOf(deploy('review/a'), stop('review/a'))
  await pipelineOf(
    deploy('review/a'),
    plannedJob({ name: 'other', environment: place('eu', { tier: 'staging' }) }),
  )
  assert.deepEqual(
    (await environments()).map(({ name, tier, state, external_url }) => [name, tier, state, external_url]),
    [
      ['review/a', 'development', 'available', null],
      ['eu', 'staging', 'available', null],
    ],
  )
})

test('a deployment follows its job, and its success sets the environment', async () => {
  const url = 'https://a.example'
  const pipeline = await pipelineOf(
    deploy('eu', { url, auto_stop_in: '2 hours', tier: 'testing' }),
    plannedJob({ name: 'later', stage_index: 1, environment: place('eu') }),
  )
  assert.equal(await statuses(), '1 created')
  const { id } = await run(pipeline, 'deploy')
  assert.equal(await statuses(), '1 running')
  assert.equal((await environment()).external_url, null)
  await turn((now) => returnJob(now, id))
  assert.equal(await statuses(), '1 created')
  await end(pipeline, 'deploy')
  assert.equal(await statuses(), '1 success, 2 created')
  const { external_url, tier, state, auto_stop_at } = await environment()
  assert.deepEqual([external_url, tier, state], [url, 'testing', 'available'])
  const hours = ((auto_stop_at?.getTime() ?? 0) - Date.now()) / 3_600_000
  assert.ok(hours > 1.9 && hours < 2.1, String(hours))
  const [first] = await deployments()
  assert.deepEqual(
    [first?.sha, first?.ref, first?.tag, first?.user_id, first?.finished_at !== null],
    ['a'.repeat(40), 'main', false, user.id, true],
  )
  await end(pipeline, 'later', 'failed')
  assert.equal(await statuses(), '1 success, 2 failed')
})

test('a manual deployment is blocked until its job is played, a skipped one is skipped, a retried one is another', async () => {
  const manual = { ...deploy('eu'), when: 'manual' as const }
  const pipeline = await pipelineOf(
    manual,
    plannedJob({ name: 'next', stage_index: 1, environment: place('eu') }),
  )
  assert.equal(await statuses(), '1 blocked')
  const { id } = await jobOf(pipeline, 'deploy')
  await turn((now) => playJob(now, id, { user_id: user.id, variables: null }))
  assert.equal(await statuses(), '1 created')
  await end(pipeline, 'deploy', 'failed')
  assert.equal(await statuses(), '1 failed, 2 skipped')
  await turn((now) => retryJob(now, id, user.id))
  assert.equal(await statuses(), '1 failed, 2 created, 3 created')
  await turn(async (now) => cancelJobs(now, [(await jobOf(pipeline, 'deploy')).id]))
  assert.equal(await statuses(), '1 failed, 2 skipped, 3 canceled')
})

test('jobs that only prepare, verify or access make no deployment; two of them set the time to stop anew', async () => {
  for (const action of ['prepare', 'access', 'verify'] as const) {
    const pipeline = await pipelineOf(
      deploy('eu', { action, auto_stop_in: '1 day', url: 'https://no.example' }),
    )
    await rowsOf(world(), 'update environments set auto_stop_at = null where project_id = $1', [project.id])
    await end(pipeline, 'deploy')
    const { auto_stop_at, external_url } = await environment()
    assert.deepEqual([auto_stop_at !== null, external_url], [action !== 'verify', null], action)
  }
  assert.equal(await statuses(), '')
})

test('a deployment without a time to stop leaves the one that is set, and `never` takes it away', async () => {
  for (const [auto_stop_in, isSet] of [
    ['1 day', true],
    [null, true],
    ['never', false],
    ['$UNKNOWN', false],
  ] as const) {
    await end(await pipelineOf(deploy('eu', { auto_stop_in })), 'deploy')
    assert.equal((await environment()).auto_stop_at !== null, isSet, String(auto_stop_in))
  }
})

test('an address that no environment can have is left out', async () => {
  for (const url of ['javascript:alert(1)', `https://${'a'.repeat(300)}`]) {
    await end(await pipelineOf(deploy('eu', { url })), 'deploy')
    assert.equal((await environment()).external_url, null)
  }
})

const stopNow = (force = false): Promise<void> =>
  turn(async (now) => stopEnvironment(now, (await environment()).id, { user_id: user.id, force }))

test('an environment stops by its job, and has stopped when that succeeds', async () => {
  const pipeline = await pipelineOf(deploy('eu', { on_stop: 'stop', auto_stop_in: '1 day' }), stop('eu'))
  await end(pipeline, 'deploy')
  await stopNow()
  assert.equal(await statesOf(world(), pipeline), 'deploy success, stop pending')
  assert.deepEqual([(await environment()).state, (await environment()).auto_stop_at], ['stopping', null])
  await stopNow()
  assert.equal((await environment()).state, 'stopping')
  await end(pipeline, 'stop')
  assert.equal((await environment()).state, 'stopped')
  assert.equal(await statuses(), '1 success')
})

test('an environment whose stopping job fails is available again, and can be stopped once more', async () => {
  const pipeline = await pipelineOf(deploy('eu', { on_stop: 'stop' }), stop('eu'))
  await end(pipeline, 'deploy')
  await stopNow()
  await end(pipeline, 'stop', 'failed')
  assert.equal((await environment()).state, 'available')
  await stopNow()
  assert.equal(await statesOf(world(), pipeline), 'deploy success, stop pending')
  await turn(async (now) => cancelJobs(now, [(await jobOf(pipeline, 'stop')).id]))
  assert.equal((await environment()).state, 'available')
  await stopNow()
  await turn((now) => deletePipeline(now, pipeline.id))
  assert.equal((await environment()).state, 'available')
})

test('an environment without a job to stop it stops at once, and so does one that is forced to', async () => {
  await end(await pipelineOf(deploy('eu')), 'deploy')
  await stopNow()
  assert.equal((await environment()).state, 'stopped')
  const pipeline = await pipelineOf(deploy('eu', { on_stop: 'stop' }), stop('eu'))
  await end(pipeline, 'deploy')
  assert.equal((await environment()).state, 'available', 'a deployment starts it again')
  await stopNow(true)
  assert.equal((await environment()).state, 'stopped')
  assert.equal(await statesOf(world(), pipeline), 'deploy success, stop manual')
})

test('the last successful deployment names the job that stops', async () => {
  const first = await pipelineOf(deploy('eu', { on_stop: 'stop' }), stop('eu'))
  await end(first, 'deploy')
  const second = await pipelineOf(deploy('eu', { on_stop: 'stop' }), stop('eu'))
  await end(second, 'deploy', 'failed')
  await stopNow()
  assert.equal(await statesOf(world(), first), 'deploy success, stop pending')
})

const due = (column: 'auto_stop_at' | 'auto_delete_at', interval: string): Promise<unknown> =>
  rowsOf(world(), `update environments set ${column} = now() + $2::interval where project_id = $1`, [
    project.id,
    interval,
  ])

test('an environment stops when its time has come, once, in the name of the user of its job', async () => {
  const pipeline = await pipelineOf(deploy('eu', { on_stop: 'stop' }), stop('eu'))
  await end(pipeline, 'deploy')
  const { client } = world().opened
  await due('auto_stop_at', '1 minute')
  await applyEnvironmentTimes(client)
  assert.equal((await environment()).state, 'available')
  await due('auto_stop_at', '-1 second')
  await applyEnvironmentTimes(client)
  await applyEnvironmentTimes(client)
  assert.equal((await environment()).state, 'stopping')
  await end(pipeline, 'stop', 'failed')
  await applyEnvironmentTimes(client)
  assert.deepEqual(
    [(await environment()).state, (await jobOf(pipeline, 'stop')).user_id],
    ['available', user.id],
  )
})

test('a stopped environment is deleted when its time has come, with its deployments, and its jobs stay', async () => {
  const pipeline = await pipelineOf(deploy('eu'))
  await end(pipeline, 'deploy')
  await due('auto_delete_at', '-1 second')
  const { client } = world().opened
  await applyEnvironmentTimes(client)
  assert.equal((await environments()).length, 1, 'it is available')
  await stopNow(true)
  await applyEnvironmentTimes(client)
  assert.deepEqual([await environments(), await deployments()], [[], []])
  const { id, environment_id } = await jobOf(pipeline, 'deploy')
  assert.equal(environment_id, null)
  await turn((now) => retryJob(now, id, user.id))
  await end(pipeline, 'deploy')
  assert.equal(await statuses(), '')
})

test('a deployment whose pipeline is deleted is canceled unless it is over', async () => {
  const over = await pipelineOf(deploy('eu'))
  await end(over, 'deploy')
  const open = await pipelineOf(deploy('eu'))
  for (const { id } of [over, open]) await turn((now) => deletePipeline(now, id))
  assert.equal(await statuses(), '1 success, 2 canceled')
  assert.deepEqual(
    (await deployments()).map(({ job_id }) => job_id),
    [null, null],
  )
})

test('the check finds deployments and environments that contradict their jobs', async () => {
  await end(await pipelineOf(deploy('eu')), 'deploy')
  const [deployment] = await deployments()
  await rowsOf(world(), "update deployments set status = 'running' where project_id = $1", [project.id])
  await rowsOf(world(), "update environments set state = 'stopping' where project_id = $1", [project.id])
  const found = await findInconsistencies(world().opened.client)
  assert.deepEqual(found, [
    { kind: 'wrong_deployment', id: deployment?.id, project_id: project.id },
    { kind: 'stuck_environment', id: (await environment()).id, project_id: project.id },
  ])
  await rowsOf(world(), 'delete from environments where project_id = $1', [project.id])
})
