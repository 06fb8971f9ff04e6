/* Projects whose pipelines trigger others: their jobs are ended by the test, the queue is worked off at once. */
import assert from 'node:assert/strict'
import { digestOf } from '../../src/access/tokens.ts'
import { createDownstreamPipeline, followDownstreamPipeline } from '../../src/ci/downstream/creation_job.ts'
import type { BridgeRef } from '../../src/ci/downstream/mirroring.ts'
import { finishJob } from '../../src/ci/jobs/actions.ts'
import { startJob } from '../../src/ci/runners/queue.ts'
import { inTurn, type Turn } from '../../src/ci/turn.ts'
import type { Job } from '../../src/db/schema/ci.ts'
import type { Pipeline } from '../../src/db/schema/repositories.ts'
import { makeRunner } from './ci_engine.ts'
import { writeFiles } from './config_commit.ts'
import type { Someone } from './makers.ts'
import { rowOf, rowsOf } from './rows.ts'
import type { World } from './world.ts'

type Place = { readonly id: number }
type Row<Of> = Of & Record<string, unknown>

const take = `with done as (
    delete from graphile_worker._private_jobs j using graphile_worker._private_tasks t
     where t.id = j.task_id and t.identifier = $1 returning j.id, j.payload)
  select payload from done order by id`

/** Runs the jobs that bridges have left in the queue, until there is none. */
export async function settleBridges(world: World): Promise<void> {
  for (let found = 1; found > 0;) {
    found = 0
    for (const job of [createDownstreamPipeline, followDownstreamPipeline])
      for (const { payload } of await rowsOf<{ payload: BridgeRef }>(world, take, [job.name])) {
        await job.run(world.opened.instance, payload)
        found += 1
      }
  }
}

/** Starts a pipeline of a configuration, and works off what its bridges ask for. */
export async function startPipeline(
  world: World,
  {
    project,
    as,
    ...given
  }: {
    project: Place
    as: Someone
    config: string
    files?: Readonly<Record<string, string>>
    variables?: object[]
    ref?: string
  },
): Promise<Row<Pipeline>> {
  const { config, files = {}, variables = [], ref = 'ci' } = given
  writeFiles(world, project, { '.gitlab-ci.yml': config, ...files }, ref)
  const made = await world.call('POST', `/projects/${project.id}/pipeline`, { as, body: { ref, variables } })
  assert.equal(made.status, 201, made.text)
  await settleBridges(world)
  return pipelineRow(world, (made.body as { id: number }).id)
}

export const pipelineRow = (world: World, id: number): Promise<Row<Pipeline>> =>
  rowOf(world, 'select * from pipelines where id = $1', [id])
export const jobNamed = (world: World, { id }: Place, name: string): Promise<Row<Job>> =>
  rowOf(world, 'select * from ci_jobs where pipeline_id = $1 and name = $2 and not retried', [id, name])

/** The downstream pipeline of a bridge. */
export const downstreamOf = async (world: World, pipeline: Place, name: string): Promise<Row<Pipeline>> =>
  pipelineRow(world, (await jobNamed(world, pipeline, name)).downstream_id ?? 0)

/** The status of a pipeline, then names and states of its jobs. */
export async function shown(world: World, { id }: Place): Promise<string> {
  const { status } = await pipelineRow(world, id)
  const jobs = await rowsOf<{ name: string; status: string }>(
    world,
    'select name, status from ci_jobs where pipeline_id = $1 and not retried order by id',
    [id],
  )
  return [status, ...jobs.map((job) => `${job.name} ${job.status}`)].join(', ')
}

export const turnIn = <Result>(
  world: World,
  project_id: number,
  work: (turn: Turn) => Promise<Result>,
): Promise<Result> => world.opened.client.transaction((tx) => inTurn(tx, project_id, work))

/** Runs a pending job to its end. */
export async function runJob(
  world: World,
  pipeline: Pick<Pipeline, 'id' | 'project_id'>,
  name: string,
  status: 'success' | 'failed' = 'success',
): Promise<Row<Job>> {
  const job = await jobNamed(world, pipeline, name)
  const runner = await makeRunner(world)
  await turnIn(world, pipeline.project_id, async (turn) => {
    const token_digest = digestOf(`job ${job.id}`)
    const hand = { runner, manager_id: null, token_digest, cancels_gracefully: false }
    assert.ok(await startJob(turn, job.id, hand), `${name} is ${job.status}`)
    const failure = status === 'failed' ? { failure_reason: 'script_failure' } : {}
    assert.ok(await finishJob(turn, job.id, { status, ...failure }))
  })
  return job
}
