import { sql } from 'kysely'
import { repositoryPath } from '../../core/places/projects.ts'
import type { Db } from '../../db/db.ts'
import { statement, type Slots } from '../../db/statement.ts'
import { enqueue, type Job } from '../../jobs/job.ts'
import { cancelPipeline, familyOf } from '../pipeline_actions.ts'
import { findPipeline } from '../pipeline_store.ts'
import { cancelJobs, inTurn, type Turn } from '../turn.ts'

// A newer commit of a ref cancels the older pipelines of that ref.

const redundant = statement(
  (p: Slots<{ project_id: number; id: number; ref: string; shas: readonly string[] }>) => sql<{
    id: number
    on_new_commit: 'conservative' | 'interruptible'
  }>`
    select o.id, o.on_new_commit from pipelines o
     where o.project_id = ${p.project_id} and o.ref = ${p.ref} and o.id < ${p.id} and o.sha <> all(${p.shas}::text[])
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

interface Newer {
  readonly id: number
  readonly ref: string
  readonly sha: string
}

/**
 * Cancels older pipelines of the ref, as far as each lets itself be canceled by a newer commit. Those of its `head` stay:
 * pipelines of two pushes are not always created in the order of the pushes.
 */
export async function cancelRedundant(turn: Turn, { id, ref, sha }: Newer, head: string): Promise<void> {
  const found = await turn.db.rows(redundant, { project_id: turn.projectId, id, ref, shas: [sha, head] })
  for (const older of found) {
    const ids = await familyOf(turn, older.id)
    await turn.db.run(blame, { ids, by: id })
    if (older.on_new_commit === 'conservative') await cancelPipeline(turn, older.id)
    else {
      const rows = await turn.db.rows(interruptible, { ids })
      await cancelJobs(
        turn,
        rows.map((row) => row.id),
      )
    }
  }
}

// The kept ref of a merge request may not have followed its source branch yet.
const sourceOf = statement(
  (p: Slots<{ id: number }>) =>
    sql<{
      source_project_id: number | null
      source_branch: string
    }>`select source_project_id, source_branch from merge_requests where id = ${p.id}`,
)

interface CreatedPipeline {
  readonly project_id: number
  readonly pipeline_id: number
}

/** Cancels what a new pipeline makes redundant. The head is read only now, so no newer pipeline of it is overlooked. */
export const cancelRedundantPipelines: Job<CreatedPipeline> = {
  name: 'cancel_redundant_pipelines',
  run: async ({ db, git }, { project_id, pipeline_id }) => {
    const pipeline = await findPipeline(db, project_id, pipeline_id)
    if (pipeline === undefined) return
    const { ref, tag, sha, merge_request_id } = pipeline
    const source = merge_request_id === null ? undefined : await db.one(sourceOf, { id: merge_request_id })
    const name = source ? `refs/heads/${source.source_branch}` : `refs/${tag ? 'tags' : 'heads'}/${ref}`
    const head = await git.repository(repositoryPath(source?.source_project_id ?? project_id)).ref(name)
    await db.transaction((tx) =>
      inTurn(tx, project_id, (turn) => cancelRedundant(turn, pipeline, head ?? sha)),
    )
  },
}

/** Asks for that job where an older pipeline may be redundant. Call in the transaction that creates the pipeline. */
export async function askToCancelRedundant(db: Db, project_id: number, newer: Newer): Promise<void> {
  const { id, ref, sha } = newer
  const found = await db.rows(redundant, { project_id, id, ref, shas: [sha] })
  if (found.length > 0) await enqueue(db, cancelRedundantPipelines, { project_id, pipeline_id: id })
}
