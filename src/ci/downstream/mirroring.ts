import { sql } from 'kysely'
import type { Db } from '../../db/db.ts'
import type { JobStatus } from '../../db/schema/ci.ts'
import { statement, type Slots } from '../../db/statement.ts'
import { enqueueAll, type Job } from '../../jobs/job.ts'
import { isCompleted } from '../status.ts'

// A bridge with a strategy takes the status of its downstream pipeline.

export interface BridgeRef {
  readonly project_id: number
  readonly job_id: number
}
/** Creates the pipeline of a pending bridge. Runs in `creation_job.ts`. */
export const CREATE_DOWNSTREAM: Pick<Job<BridgeRef>, 'name'> = { name: 'create_downstream_pipeline' }
/** Mirrors the status of a pipeline into a bridge of another project. Runs in `creation_job.ts`. */
export const FOLLOW_DOWNSTREAM: Pick<Job<BridgeRef & { readonly reopens?: boolean }>, 'name'> = {
  name: 'follow_downstream_pipeline',
}

/** Enqueues the creation of the pipelines of bridges that became pending. */
export const askForDownstream = (db: Db, project_id: number, ids: readonly number[]): Promise<void> =>
  enqueueAll(
    db,
    CREATE_DOWNSTREAM,
    ids.map((job_id) => ({ payload: { project_id, job_id }, key: `${CREATE_DOWNSTREAM.name} ${job_id}` })),
  )

/** The part of a turn that mirroring needs. */
interface Entering {
  readonly db: Db
  readonly projectId: number
  enter(
    ids: readonly number[],
    from: readonly JobStatus[],
    to: JobStatus,
    cause?: { readonly reason?: string },
  ): Promise<readonly unknown[]>
}

/** States of a bridge whose downstream pipeline exists and has not ended. */
export const FOLLOWING = ['pending', 'running', 'canceling', 'manual', 'scheduled'] as const

export interface MirroringBridge {
  readonly id: number
  readonly project_id: number
  readonly pipeline_id: number
  readonly name: string
  readonly status: JobStatus
  readonly has_resource_group: boolean
  readonly strategy: 'depend' | 'mirror'
  /** Status of the downstream pipeline. */
  readonly downstream: string
}

const MIRRORED: ReadonlySet<string> = new Set<JobStatus>([
  'pending',
  'running',
  'canceling',
  'manual',
  'scheduled',
  'skipped',
])

/** The state of a bridge whose downstream pipeline has that status, as published. */
function mirroredStatus({
  strategy,
  downstream,
  has_resource_group,
}: Pick<MirroringBridge, 'strategy' | 'downstream' | 'has_resource_group'>): JobStatus {
  if (downstream === 'success' || downstream === 'failed' || downstream === 'canceled') return downstream
  if (strategy === 'depend') return downstream === 'skipped' ? 'failed' : 'running'
  // A bridge keeps the resource of its group until its downstream pipeline ends.
  const frees = downstream === 'manual' || downstream === 'scheduled'
  if (has_resource_group && frees) return 'running'
  return MIRRORED.has(downstream) ? (downstream as JobStatus) : 'pending'
}

const bridgesOf = statement(
  (p: Slots<{ ids: readonly number[] }>) => sql<MirroringBridge>`
    select j.id, j.project_id, j.pipeline_id, j.name, j.status, j.resource_group_id is not null as has_resource_group,
           s.trigger->>'strategy' as strategy, d.status as downstream
      from ci_jobs j join ci_job_specs s on s.id = j.spec_id join pipelines d on d.id = j.downstream_id
     where j.downstream_id = any(${p.ids}::bigint[]) and not j.retried and s.trigger->>'strategy' is not null
     order by j.id`,
)
/** The bridges that mirror these pipelines. */
export const mirroringBridges = (db: Db, ids: readonly number[]): Promise<MirroringBridge[]> =>
  db.rows(bridgesOf, { ids })

/**
 * Brings the bridges of these downstream pipelines up to date: those of the turn's project in this transaction, those of
 * other projects by a job that it enqueues, because their locks must not be taken in any order.
 */
export async function followDownstream(turn: Entering, pipelineIds: readonly number[]): Promise<void> {
  if (pipelineIds.length === 0) return
  const bridges = await mirroringBridges(turn.db, pipelineIds)
  for (const bridge of bridges) if (bridge.project_id === turn.projectId) await mirror(turn, bridge)
  await askToFollow(
    turn.db,
    bridges.filter(({ project_id }) => project_id !== turn.projectId),
  )
}

export async function mirror(turn: Entering, bridge: MirroringBridge): Promise<void> {
  const to = mirroredStatus(bridge)
  if (to === bridge.status) return
  await turn.enter(
    [bridge.id],
    FOLLOWING.filter((status) => status !== to),
    to,
  )
}

/** `reopens` where the pipeline runs again after it had ended. */
export const askToFollow = (
  db: Db,
  bridges: readonly Pick<MirroringBridge, 'id' | 'project_id'>[],
  reopens = false,
): Promise<void> =>
  enqueueAll(
    db,
    FOLLOW_DOWNSTREAM,
    bridges.map(({ id, project_id }) => ({
      payload: { project_id, job_id: id, reopens },
      key: `${FOLLOW_DOWNSTREAM.name} ${id} ${reopens}`,
    })),
  )

/** Whether a bridge can run again with its pipeline. With a resource group it has given that away. */
export const isReopenable = ({ status, has_resource_group }: MirroringBridge): boolean =>
  isCompleted(status) && !has_resource_group
