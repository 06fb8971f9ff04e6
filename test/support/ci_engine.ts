import { createPipeline } from '../../src/core/delivery/pipelines.ts'
import { insertJobs } from '../../src/ci/creation/insertion.ts'
import { inTurn } from '../../src/ci/turn.ts'
import type { PlannedJob } from '../../src/ci/config/plan.ts'
import type { Runner } from '../../src/db/schema/ci.ts'
import type { Pipeline } from '../../src/db/schema/repositories.ts'
import { digestOf } from '../../src/access/tokens.ts'
import { rowOf, rowsOf } from './rows.ts'
import type { World } from './world.ts'

/** Inserts a pipeline with these jobs, as if its configuration had been planned. */
export const makePipeline = (
  world: World,
  project: { readonly id: number },
  jobs: readonly PlannedJob[],
  { user_id, ref = 'main' }: { readonly user_id: number; readonly ref?: string },
): Promise<Pipeline> =>
  world.opened.client.transaction((tx) =>
    inTurn(tx, project.id, async (turn) => {
      const sha = 'a'.repeat(40)
      const pipeline = await createPipeline(tx, { project_id: project.id, sha, ref, source: 'push', user_id })
      const of = { project_id: project.id, pipeline_id: pipeline.id, user_id }
      await insertJobs(tx, { ...of, protected: false, instance_runners: true }, jobs)
      turn.touchPipeline(pipeline.id)
      return pipeline
    }),
  )

/** A runner of the instance that takes every job, unless told otherwise. */
export const makeRunner = (
  world: World,
  { token = `glrt-${Math.random()}`, ...columns }: Partial<Runner> & { readonly token?: string } = {},
): Promise<Runner> =>
  rowOf<Runner>(
    world,
    `insert into ci_runners (runner_type, digest, group_id, run_untagged, tag_list, access_level, paused)
     values ($1, $2, $3, $4, $5, $6, $7) returning *`,
    [
      columns.runner_type ?? 'instance_type',
      digestOf(token),
      columns.group_id ?? null,
      columns.run_untagged ?? true,
      columns.tag_list ?? [],
      columns.access_level ?? 'not_protected',
      columns.paused ?? false,
    ],
  )

/** Names and states of a pipeline's jobs, as they were made. */
export async function statesOf(world: World, pipeline: { readonly id: number }): Promise<string> {
  const rows = await rowsOf<{ name: string; status: string }>(
    world,
    'select name, status from ci_jobs where pipeline_id = $1 and not retried order by id',
    [pipeline.id],
  )
  return rows.map(({ name, status }) => `${name} ${status}`).join(', ')
}
