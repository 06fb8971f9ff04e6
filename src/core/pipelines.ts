import { sql, type RawBuilder } from 'kysely'
import type { Db } from '../db/client.ts'
import type { Pipeline as PipelineRow } from '../db/schema_repositories.ts'
import { q, statement, type Slots } from '../db/statement.ts'
import { nextInProject } from './counters.ts'

const newest = statement((p: Slots<{ project_id: number; sha: string }>) =>
  q
    .selectFrom('pipelines')
    .selectAll()
    .where('project_id', '=', p.project_id)
    .where('sha', '=', p.sha)
    .orderBy('id', 'desc')
    .limit(1),
)

/** The newest pipeline of a commit. */
export const lastPipeline = (db: Db, projectId: number, sha: string): Promise<PipelineRow | undefined> =>
  db.one(newest, { project_id: projectId, sha })

/**
 * What a merge into the project `p` waits for, as part of a statement: the state of the newest pipeline of the commit, or
 * `none`; null where the project waits for nothing. What was skipped succeeded where the project counts it so.
 */
export const awaitedPipeline = (sha: RawBuilder<string | null>): RawBuilder<string | null> => sql`
  case when (p.settings->>'only_allow_merge_if_pipeline_succeeds')::boolean then coalesce((
    select case when l.status = 'skipped' and (p.settings->>'allow_merge_on_skipped_pipeline')::boolean
                then 'success' else l.status end
      from pipelines l where l.project_id = p.id and l.sha = ${sha} order by l.id desc limit 1), 'none') end`

/** Why what is awaited lets nothing be merged now, in the published words. */
export function pipelineFault(awaited: string | null): 'ci_must_pass' | 'ci_still_running' | undefined {
  if (awaited === null || awaited === 'success') return undefined
  return awaited === 'pending' || awaited === 'running' ? 'ci_still_running' : 'ci_must_pass'
}

const awaitedNow = statement(
  (p: Slots<{ project_id: number; sha: string }>) => sql<{ state: string | null }>`
    select ${awaitedPipeline(p.sha)} as state from projects p where p.id = ${p.project_id}`,
)
/** Whether the project's pipelines let the commit be merged. */
export async function pipelinesLet(db: Db, projectId: number, sha: string): Promise<boolean> {
  const found = await db.one(awaitedNow, { project_id: projectId, sha })
  return found !== undefined && pipelineFault(found.state) === undefined
}

/** Whether no pipeline ran for the commit, or the newest succeeded: what an automatic merge asks for. */
export async function checksPassed(db: Db, projectId: number, sha: string): Promise<boolean> {
  const pipeline = await lastPipeline(db, projectId, sha)
  return pipeline === undefined || pipeline.status === 'success'
}

const insert = statement(
  (
    p: Slots<{
      iid: number
      project_id: number
      sha: string
      ref: string
      source: string
      user_id: number | null
    }>,
  ) =>
    q
      .insertInto('pipelines')
      .values({
        iid: p.iid,
        project_id: p.project_id,
        sha: p.sha,
        ref: p.ref,
        source: p.source,
        user_id: p.user_id,
      })
      .returningAll(),
)

export interface NewPipeline {
  readonly project_id: number
  readonly sha: string
  readonly ref: string
  readonly source: string
  readonly user_id: number | null
}

/** Inserts a pipeline under the project's next iid. Call inside a transaction. */
export async function createPipeline(db: Db, pipeline: NewPipeline): Promise<PipelineRow> {
  const iid = await nextInProject(db, pipeline.project_id, 'pipelines')
  return db.insert(insert, { ...pipeline, iid })
}
