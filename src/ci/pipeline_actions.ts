import { sql } from 'kysely'
import { wakeAutoMerges } from '../core/merge_requests/auto_merges.ts'
import { statement, type Slots } from '../db/statement.ts'
import { releaseDeployments } from './environments/deployments.ts'
import { isRetryable, reopenBridge, replaceJob } from './jobs/actions.ts'
import { enqueue } from '../jobs/job.ts'
import { latestJobs } from './jobs/store.ts'
import { removeTraces } from './jobs/trace_removal.ts'
import { cancelJobs, type Turn } from './turn.ts'

// Actions of people on a whole pipeline. Each works inside a turn of the pipeline's project.

const family = statement(
  (p: Slots<{ id: number; project_id: number }>) => sql<{ id: number }>`
    with recursive family as (
      select id from pipelines where id = ${p.id} and project_id = ${p.project_id}
      union all
      select c.id from pipelines c join family f on c.parent_id = f.id where c.project_id = ${p.project_id})
    select id from family`,
)

/** A pipeline and its child pipelines, of whatever generation. */
export async function familyOf(turn: Turn, id: number): Promise<number[]> {
  return (await turn.db.rows(family, { id, project_id: turn.projectId })).map((row) => row.id)
}

/** Cancels every job that can be, of the pipeline and of its child pipelines. */
export async function cancelPipeline(turn: Turn, id: number): Promise<void> {
  for (const pipelineId of await familyOf(turn, id)) {
    const jobs = await latestJobs(turn.db, pipelineId)
    await cancelJobs(
      turn,
      jobs.map((job) => job.id),
    )
  }
}

/** Runs failed and canceled jobs once more; skipped ones are decided anew. With nothing to retry it changes nothing. */
export async function retryPipeline(turn: Turn, id: number, userId: number): Promise<void> {
  const jobs = await latestJobs(turn.db, id)
  const again = jobs.filter(
    (job) => job.status !== 'success' && isRetryable({ status: job.status, retried: false }),
  )
  for (const job of again) await replaceJob(turn, job.id, userId)
  if (again.length === 0) return
  const skipped = jobs.filter((job) => job.status === 'skipped').map((job) => job.id)
  await turn.enter(skipped, ['skipped'], 'created')
  turn.touchPipeline(id)
  await reopenBridge(turn, id)
}

const groupsOf = statement(
  (p: Slots<{ ids: readonly number[] }>) => sql<{ id: number }>`
    select distinct resource_group_id as id from ci_jobs
     where pipeline_id = any(${p.ids}::bigint[]) and resource_group_id is not null`,
)
const tracedOf = statement(
  (p: Slots<{ ids: readonly number[] }>) => sql<{ id: number }>`
    select id from ci_jobs where pipeline_id = any(${p.ids}::bigint[]) and started_at is not null`,
)
const removeStatement = statement(
  (p: Slots<{ id: number; project_id: number }>) => sql`
    delete from pipelines where id = ${p.id} and project_id = ${p.project_id}`,
)
/** Deletes a pipeline with its jobs and child pipelines; resources that they held are given to others. */
export async function deletePipeline(turn: Turn, id: number): Promise<boolean> {
  const ids = await familyOf(turn, id)
  const groups = await turn.db.rows(groupsOf, { ids })
  const traced = await turn.db.rows(tracedOf, { ids })
  await releaseDeployments(turn.db, ids)
  await wakeAutoMerges(turn.db, ids)
  const deleted = await turn.db.run(removeStatement, { id, project_id: turn.projectId })
  for (const group of groups) turn.touchGroup(group.id)
  if (traced.length > 0) await enqueue(turn.db, removeTraces, { job_ids: traced.map((job) => job.id) })
  return deleted > 0
}
