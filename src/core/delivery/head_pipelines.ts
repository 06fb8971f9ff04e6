import { sql, type RawBuilder } from 'kysely'
import type { Db } from '../../db/db.ts'
import type { Pipeline } from '../../db/schema/repositories.ts'
import { statement, type Slots } from '../../db/statement.ts'

// The head pipeline of a merge request: what its checks are judged by.

/**
 * The pipelines that ran for a commit of the merge request `m`, its head pipeline first: its own before those of branches
 * in its project, then the newest. Part of a statement.
 */
const pipelinesOfHead = (sha: RawBuilder<string | null>): RawBuilder<Pipeline> => sql<Pipeline>`
  select l.* from pipelines l
   where l.project_id = any(array[m.project_id, m.source_project_id]) and l.sha = ${sha} and l.parent_id is null
     and (l.merge_request_id = m.id or l.merge_request_id is null and l.project_id = m.project_id and not l.tag)
   order by l.merge_request_id is null, l.id desc limit 1`

/** Its status, of the merge request `m` into the project `p`; `none` without one. A skipped one succeeded where `p` says so. */
const headStatus = (sha: RawBuilder<string | null>): RawBuilder<string> => sql`coalesce((
  select case when h.status = 'skipped' and (p.settings->>'allow_merge_on_skipped_pipeline')::boolean
              then 'success' else h.status end
    from (${pipelinesOfHead(sha)}) h), 'none')`

/** The same where the project merges only what succeeded; null where it does not ask. */
export const awaitedPipeline = (sha: RawBuilder<string | null>): RawBuilder<string | null> => sql`
  case when (p.settings->>'only_allow_merge_if_pipeline_succeeds')::boolean then ${headStatus(sha)} end`

/** Statuses in which jobs run or are going to run without anybody's help. */
const ACTIVE: ReadonlySet<string> = new Set([
  'created',
  'waiting_for_resource',
  'preparing',
  'waiting_for_callback',
  'pending',
  'running',
  'canceling',
  'scheduled',
])

/** Whether a pipeline may still succeed: it is active, or waits for a manual job. */
export const isUnfinished = (status: string): boolean => ACTIVE.has(status) || status === 'manual'

/** Why what is awaited lets nothing be merged now, in the published words. */
export function pipelineFault(awaited: string | null): 'ci_must_pass' | 'ci_still_running' | undefined {
  if (awaited === null || awaited === 'success') return undefined
  return ACTIVE.has(awaited) ? 'ci_still_running' : 'ci_must_pass'
}

interface HeadStatus {
  readonly status: string
  /** The checks that a merge waits for. */
  readonly awaited: string | null
}
const statusNow = statement(
  (p: Slots<{ id: number; sha: string }>) => sql<HeadStatus>`
    select ${headStatus(p.sha)} as status, ${awaitedPipeline(p.sha)} as awaited
      from merge_requests m join projects p on p.id = m.project_id where m.id = ${p.id}`,
)
/** The status of the pipeline that decides about a commit of a merge request; `none` without one. */
export const headPipelineStatus = async (db: Db, id: number, sha: string): Promise<string> =>
  (await db.one(statusNow, { id, sha }))?.status ?? 'none'

/** Whether the project's settings let the commit be merged, and, `afterChecks`, no check of it runs or has failed. */
export async function checksLet(
  db: Db,
  { id, sha, afterChecks }: { readonly id: number; readonly sha: string; readonly afterChecks: boolean },
): Promise<boolean> {
  const found = await db.one(statusNow, { id, sha })
  if (found === undefined || pipelineFault(found.awaited) !== undefined) return false
  return !afterChecks || found.status === 'none' || found.status === 'success'
}

const head = statement(
  (p: Slots<{ id: number; sha: string }>) => sql<Pipeline>`
    select h.* from merge_requests m, lateral (${pipelinesOfHead(p.sha)}) h where m.id = ${p.id}`,
)
/** The head pipeline of a merge request whose source branch holds the commit. */
export const findHeadPipeline = (db: Db, id: number, sha: string): Promise<Pipeline | undefined> =>
  db.one(head, { id, sha })
