import { sql } from 'kysely'
import { wakeAutoMerges } from '../core/merge_requests/auto_merges.ts'
import { statement, type Slots } from '../db/statement.ts'
import { releaseDeployments } from './environments/deployments.ts'
import { isRetryable, replaceJob } from './jobs/actions.ts'
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
async function familyOf(turn: Turn, id: number): Promise<number[]> {
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

const redundant = statement(
  (p: Slots<{ project_id: number; id: number; ref: string; sha: string }>) => sql<{
    id: number
    on_new_commit: 'conservative' | 'interruptible'
  }>`
    select o.id, o.on_new_commit from pipelines o
     where o.project_id = ${p.project_id} and o.ref = ${p.ref} and o.id < ${p.id} and o.sha <> ${p.sha}
       and o.status not in ('success', 'failed', 'canceled', 'skipped')
       and o.parent_id is null and o.source <> 'external' and o.on_new_commit <> 'none'
       and o.created_at > now() - interval '7 days'
       and (o.on_new_commit = 'interruptible' or not exists (
         select from ci_jobs j join ci_job_specs s on s.id = j.spec_id
          where j.pipeline_id = o.id and not s.interruptible and j.started_at is not null))
     order by o.id`,
)
const interruptible = statement(
  (p: Slots<{ ids: readonly number[] }>) => sql<{ id: number }>`
    select j.id from ci_jobs j join ci_job_specs s on s.id = j.spec_id
     where j.pipeline_id = any(${p.ids}::bigint[]) and s.interruptible and not j.retried`,
)
const blame = statement(
  (p: Slots<{ ids: readonly number[]; by: number }>) => sql`
    update pipelines set auto_canceled_by_id = ${p.by} where id = any(${p.ids}::bigint[])`,
)

/** Cancels older pipelines of the ref, as far as each lets itself be canceled by a newer commit. */
export async function cancelRedundant(
  turn: Turn,
  by: { readonly id: number; readonly ref: string; readonly sha: string },
): Promise<void> {
  const found = await turn.db.rows(redundant, { ...by, project_id: turn.projectId })
  for (const { id, on_new_commit } of found) {
    const ids = await familyOf(turn, id)
    await turn.db.run(blame, { ids, by: by.id })
    if (on_new_commit === 'conservative') await cancelPipeline(turn, id)
    else {
      const rows = await turn.db.rows(interruptible, { ids })
      await cancelJobs(
        turn,
        rows.map((row) => row.id),
      )
    }
  }
}
