import type { Db } from '../../db/db.ts'
import type { Pipeline as PipelineRow } from '../../db/schema/repositories.ts'
import { q, statement, type Slots } from '../../db/statement.ts'
import { nextInProject } from '../values/counters.ts'

const newest = statement((p: Slots<{ project_id: number; sha: string }>) =>
  q
    .selectFrom('pipelines')
    .selectAll()
    .where('project_id', '=', p.project_id)
    .where('sha', '=', p.sha)
    .where('parent_id', 'is', null)
    .orderBy('id', 'desc')
    .limit(1),
)

/** The newest pipeline of a commit, child pipelines apart. */
export const lastPipeline = (db: Db, projectId: number, sha: string): Promise<PipelineRow | undefined> =>
  db.one(newest, { project_id: projectId, sha })

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
