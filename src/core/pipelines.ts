import { sql } from 'kysely'
import type { Static } from 'typebox'
import type { Db } from '../db/client.ts'
import type { Pipeline as PipelineRow } from '../db/schema_repositories.ts'
import { q, statement, type Slots } from '../db/statement.ts'
import type { Instance } from '../instance.ts'
import type { Pipeline } from './commit_record.ts'

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

const draw = statement(
  (p: Slots<{ project_id: number; counts: string }>) => sql<{ last: number }>`
    insert into project_counters (project_id, counts, last) values (${p.project_id}, ${p.counts}, 1)
    on conflict (project_id, counts) do update set last = project_counters.last + 1
    returning last`,
)
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
  const drawn = await db.one(draw, { project_id: pipeline.project_id, counts: 'pipelines' })
  const row = drawn && (await db.one(insert, { ...pipeline, iid: drawn.last }))
  if (row === undefined) throw new Error('a pipeline was not inserted')
  return row
}

/** What the world sees of a pipeline beside its commit. */
export const presentPipeline = (
  row: PipelineRow,
  project: { readonly full_path: string },
  { config }: Pick<Instance, 'config'>,
): Static<typeof Pipeline> => ({
  id: row.id,
  iid: row.iid,
  project_id: row.project_id,
  sha: row.sha,
  ref: row.ref,
  status: row.status,
  source: row.source,
  created_at: row.created_at.toISOString(),
  updated_at: row.updated_at.toISOString(),
  web_url: `${config.url}/${project.full_path}/-/pipelines/${row.id}`,
})
