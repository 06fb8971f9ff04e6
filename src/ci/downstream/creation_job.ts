import type { Job as JobRow } from '../../db/schema/ci.ts'
import type { PlannedTrigger } from '../config/plan.ts'
import type { Instance } from '../../instance.ts'
import type { Job } from '../../jobs/job.ts'
import { preparePipeline } from '../creation/creation.ts'
import { insertInTurn, insertRefused } from '../creation/pipeline_insertion.ts'
import type { PipelineRequest } from '../creation/pipeline_request.ts'
import { findJob } from '../jobs/store.ts'
import { jobDetail } from '../jobs/store_detail.ts'
import { reopenBridge } from '../jobs/actions.ts'
import { holdPipelines, inTurn, type Turn } from '../turn.ts'
import {
  CREATE_DOWNSTREAM,
  FOLLOW_DOWNSTREAM,
  askForDownstream,
  followDownstream,
  mirror,
  mirroringBridges,
  type BridgeRef,
} from './mirroring.ts'
import { downstreamRequest } from './requests.ts'
import { attachDownstream, delayedBridges, findWaitingBridge } from './store.ts'

type Outcome =
  | { readonly reason: string }
  | (Awaited<ReturnType<typeof preparePipeline>> & { readonly request: PipelineRequest })

async function prepare(instance: Instance, job: JobRow): Promise<Outcome | undefined> {
  const detail = await jobDetail(instance.db, job)
  if (detail === undefined) return undefined
  const trigger = detail.spec.trigger as PlannedTrigger | null
  if (trigger === null) return { reason: 'invalid_bridge_trigger' }
  const wanted = await downstreamRequest(instance, { ...detail, trigger })
  if ('reason' in wanted) return wanted
  return { ...(await preparePipeline(instance, wanted.request)), request: wanted.request }
}

/**
 * Creates the downstream pipeline of a bridge and attaches it in one transaction: however often the job runs, there is one
 * pipeline. Git and configurations are read before.
 */
export const createDownstreamPipeline: Job<BridgeRef> = {
  ...CREATE_DOWNSTREAM,
  run: async (instance, { project_id, job_id }) => {
    const waiting = await findWaitingBridge(instance.db, job_id)
    const outcome = waiting && (await prepare(instance, waiting))
    if (outcome === undefined) return
    const projects = 'request' in outcome ? [project_id, outcome.request.project.id] : [project_id]
    await instance.db.transaction(async (tx) => {
      await holdPipelines(tx, projects)
      await inTurn(tx, project_id, async (turn) => {
        // The bridge may have been canceled, or served by another run.
        const bridge = await findWaitingBridge(tx, job_id)
        if (bridge !== undefined) await keep(turn, instance, bridge, outcome)
      })
    })
  },
}

async function keep(turn: Turn, { vault }: Instance, bridge: JobRow, outcome: Outcome): Promise<void> {
  const { db } = turn
  const fail = (reason: string): Promise<unknown> =>
    turn.enter([bridge.id], ['pending'], 'failed', { reason })
  if ('reason' in outcome) return void (await fail(outcome.reason))
  const { request } = outcome
  if ('refusal' in outcome) {
    const kept = await insertRefused(db, request, outcome.refusal)
    if (kept !== undefined) await attachDownstream(db, bridge.id, kept)
    return void (await fail('downstream_pipeline_creation_failed'))
  }
  const { prepared } = outcome
  const { id } =
    request.project.id === turn.projectId
      ? await insertInTurn(turn, vault, prepared)
      : await inTurn(db, request.project.id, (target) => insertInTurn(target, vault, prepared))
  await attachDownstream(db, bridge.id, id)
  const mirroring = await mirroringBridges(db, [id])
  if (mirroring.length === 0) await turn.enter([bridge.id], ['pending'], 'success')
  else await followDownstream(turn, [id])
}

/** Brings a bridge up to date with its downstream pipeline in another project. */
export const followDownstreamPipeline: Job<BridgeRef & { readonly reopens?: boolean }> = {
  ...FOLLOW_DOWNSTREAM,
  run: async ({ db }, { project_id, job_id, reopens = false }) => {
    await db.transaction((tx) =>
      inTurn(tx, project_id, async (turn) => {
        const bridge = await findJob(tx, project_id, job_id)
        const downstream = bridge?.downstream_id ?? null
        if (downstream === null) return
        if (reopens) await reopenBridge(turn, downstream)
        for (const one of await mirroringBridges(tx, [downstream])) await mirror(turn, one)
      }),
    )
  },
}

/** Enqueues again the creation of downstream pipelines whose job was given up after many failures. */
export const resumeBridges: Job<object> = {
  name: 'resume_bridges',
  hourly: true,
  run: async ({ db }) => {
    for (const { id, project_id } of await delayedBridges(db)) await askForDownstream(db, project_id, [id])
  },
}
