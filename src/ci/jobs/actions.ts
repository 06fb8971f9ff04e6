import { sql } from 'kysely'
import type { Db } from '../../db/db.ts'
import type { Job, JobSpec, JobStatus } from '../../db/schema/ci.ts'
import { statement, type Slots } from '../../db/statement.ts'
import { askToFollow, isReopenable, mirroringBridges } from '../downstream/mirroring.ts'
import { findJob, latestJobs } from './store.ts'
import { enqueued, revivedBy } from '../processing.ts'
import type { Turn } from '../turn.ts'

// Actions of people and runners on one job. Each works inside a turn of the job's project.

/** A job as its actions need it: read again inside the turn, because it may have changed since. */
async function current(turn: Turn, id: number): Promise<Job | undefined> {
  return findJob(turn.db, turn.projectId, id)
}

const UNFINISHED: readonly JobStatus[] = [
  'created',
  'waiting_for_resource',
  'pending',
  'running',
  'scheduled',
  'manual',
]

export interface Outcome {
  readonly status: 'success' | 'failed'
  readonly failure_reason?: string
  readonly exit_code?: number | null
}

/**
 * Ends a job. A job that is being canceled becomes `canceled`, whatever its outcome. A failed one is tried again, as a new
 * job, while its configuration lets it. False where the job was over already.
 */
export async function finishJob(turn: Turn, id: number, outcome: Outcome): Promise<boolean> {
  const canceled = await turn.enter([id], ['canceling'], 'canceled')
  if (canceled.length > 0) return true
  if (outcome.status === 'success')
    return (
      (await turn.enter([id], ['running', 'pending', 'created', 'waiting_for_resource'], 'success')).length >
      0
    )
  const { failure_reason: reason = 'unknown_failure', exit_code = null } = outcome
  const failed = await turn.enter([id], UNFINISHED, 'failed', { reason, exit_code })
  if (failed.length === 0) return false
  if (await mayTryAgain(turn.db, id, { reason, exit_code })) await cloneJob(turn, id, null)
  return true
}

const forgetRunner = statement(
  (p: Slots<{ id: number }>) => sql`
    update ci_jobs set runner_id = null, runner_manager_id = null, token_digest = null, started_at = null
     where id = ${p.id}`,
)
const isUnheard = statement(
  (p: Slots<{ id: number }>) => sql<{ id: number }>`
    select id from ci_jobs where id = ${p.id} and contacted_at is null`,
)
/** Puts a job back into the queue that its runner never said a word of. False where it did, or the job is over. */
export async function returnJob(turn: Turn, id: number): Promise<boolean> {
  if ((await turn.db.one(isUnheard, { id })) === undefined) return false
  if ((await turn.enter([id], ['running'], 'pending')).length === 0) return false
  await turn.db.run(forgetRunner, { id })
  return true
}

const NEVER_AGAIN = new Set([
  'ci_quota_exceeded',
  'no_matching_runner',
  'missing_dependency_failure',
  'forward_deployment_failure',
  'environment_creation_failure',
])
/** Attempts after a fault of this service, where the configuration asks for none. */
const AFTER_SCHEDULER_FAILURE = 2

const retryRule = statement(
  (p: Slots<{ id: number }>) => sql<
    Pick<JobSpec, 'retry_max' | 'retry_when' | 'retry_exit_codes'> & {
      readonly tries: number
      readonly kind: string
    }
  >`
    select s.retry_max, s.retry_when, s.retry_exit_codes, j.kind,
           (select count(*)::int from ci_jobs r where r.pipeline_id = j.pipeline_id and r.name = j.name and r.retried) as tries
      from ci_jobs j join ci_job_specs s on s.id = j.spec_id where j.id = ${p.id}`,
)
async function mayTryAgain(
  db: Db,
  id: number,
  { reason, exit_code }: { readonly reason: string; readonly exit_code: number | null },
): Promise<boolean> {
  const rule = await db.one(retryRule, { id })
  if (rule === undefined || rule.kind !== 'build' || NEVER_AGAIN.has(reason)) return false
  if (rule.retry_max === 0) return reason === 'scheduler_failure' && rule.tries < AFTER_SCHEDULER_FAILURE
  const { retry_when, retry_exit_codes } = rule
  const matches =
    (retry_when.length === 0 && retry_exit_codes.length === 0) ||
    retry_when.includes('always') ||
    retry_when.includes(reason) ||
    (exit_code !== null && retry_exit_codes.includes(exit_code))
  return matches && rule.tries < rule.retry_max
}

const retire = statement(
  (p: Slots<{ id: number }>) =>
    sql`update ci_jobs set retried = true, updated_at = now() where id = ${p.id} and not retried`,
)
const clone = statement(
  (p: Slots<{ id: number; user_id: number | null }>) => sql<{ id: number }>`
    insert into ci_jobs (project_id, pipeline_id, spec_id, kind, name, stage, stage_index, allow_failure, user_id,
                         resource_group_id, environment_id, tag_set_id, protected, instance_runners, variables)
    select j.project_id, j.pipeline_id, j.spec_id, j.kind, j.name, j.stage, j.stage_index, s.allow_failure,
           coalesce(${p.user_id}, j.user_id), j.resource_group_id, j.environment_id, j.tag_set_id, j.protected,
           j.instance_runners, j.variables
      from ci_jobs j join ci_job_specs s on s.id = j.spec_id where j.id = ${p.id}
    returning id`,
)
const groupOf = statement(
  (p: Slots<{ id: number }>) => sql<{ has_resource_group: boolean }>`
    select resource_group_id is not null as has_resource_group from ci_jobs where id = ${p.id}`,
)

/** Puts a new job in the place of one that is over, and starts it. Answers its id. */
async function cloneJob(turn: Turn, id: number, userId: number | null): Promise<number> {
  const fresh = await replaceJob(turn, id, userId)
  const group = await turn.db.one(groupOf, { id: fresh })
  await turn.enter([fresh], ['created'], enqueued(group ?? { has_resource_group: false }))
  return fresh
}

/** The new job in its first state: processing decides whether and when it starts. */
export async function replaceJob(turn: Turn, id: number, userId: number | null): Promise<number> {
  await turn.db.run(retire, { id })
  const row = await turn.db.insert(clone, { id, user_id: userId })
  return row.id
}

/** Skipped jobs behind this one get another chance. */
async function reviveAfter(turn: Turn, pipelineId: number, name: string): Promise<void> {
  const jobs = await latestJobs(turn.db, pipelineId)
  const names = new Set(revivedBy(jobs, name))
  const ids = jobs.filter((job) => names.has(job.name)).map((job) => job.id)
  await turn.enter(ids, ['skipped'], 'created')
}

/**
 * Lets the bridge of a pipeline that runs again run with it, and the jobs behind the bridge be decided anew; so up to the
 * first pipeline.
 */
export async function reopenBridge(turn: Turn, pipelineId: number): Promise<void> {
  const bridges = (await mirroringBridges(turn.db, [pipelineId])).filter(isReopenable)
  for (const { id, name, pipeline_id, project_id, status } of bridges) {
    if (project_id !== turn.projectId) continue
    await turn.enter([id], [status], 'running')
    await reviveAfter(turn, pipeline_id, name)
    await reopenBridge(turn, pipeline_id)
  }
  const elsewhere = bridges.filter(({ project_id }) => project_id !== turn.projectId)
  await askToFollow(turn.db, elsewhere, true)
}

/** Whether somebody may have the job run once more. */
export const isRetryable = (job: Pick<Job, 'status' | 'retried'>): boolean =>
  !job.retried && ['success', 'failed', 'canceled'].includes(job.status)

/** Runs a finished job once more, as a new job. Its id; undefined where it is not retryable (any more). */
export async function retryJob(turn: Turn, id: number, userId: number): Promise<number | undefined> {
  const job = await current(turn, id)
  if (job === undefined || !isRetryable(job)) return undefined
  const fresh = await cloneJob(turn, id, userId)
  await reviveAfter(turn, job.pipeline_id, job.name)
  await reopenBridge(turn, job.pipeline_id)
  return fresh
}

/** Whether the job waits for somebody to start it. */
export const isPlayable = (job: Pick<Job, 'status' | 'downstream_id'>): boolean =>
  (job.status === 'manual' || job.status === 'scheduled') && job.downstream_id === null

const take = statement(
  (p: Slots<{ id: number; user_id: number; variables: Buffer | null }>) => sql`
    update ci_jobs set user_id = ${p.user_id}, variables = coalesce(${p.variables}, variables) where id = ${p.id}`,
)
/**
 * Starts a manual job, or a delayed one before its time, in the caller's name. `variables` are sealed JSON. One that is
 * over meanwhile runs once more. The id of the job that runs; undefined where none can.
 */
export async function playJob(
  turn: Turn,
  id: number,
  { user_id, variables }: { readonly user_id: number; readonly variables: Buffer | null },
): Promise<number | undefined> {
  const job = await current(turn, id)
  if (job === undefined) return undefined
  if (!isPlayable(job)) return retryJob(turn, id, user_id)
  await turn.db.run(take, { id, user_id, variables })
  const has_resource_group = job.resource_group_id !== null
  await turn.enter([id], ['manual', 'scheduled'], enqueued({ has_resource_group }))
  await reviveAfter(turn, job.pipeline_id, job.name)
  await reopenBridge(turn, job.pipeline_id)
  return id
}
