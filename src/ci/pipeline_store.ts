import { sql } from 'kysely'
import type { Db } from '../db/db.ts'
import type { Pipeline } from '../db/schema/repositories.ts'
import { q, statement, type Slots } from '../db/statement.ts'

const byId = statement((p: Slots<{ project_id: number; id: number }>) =>
  q.selectFrom('pipelines').selectAll().where('project_id', '=', p.project_id).where('id', '=', p.id),
)
export const findPipeline = (db: Db, projectId: number, id: number): Promise<Pipeline | undefined> =>
  db.one(byId, { project_id: projectId, id })

/** A pipeline whose status changed. */
export type Moved = Pick<
  Pipeline,
  'id' | 'project_id' | 'status' | 'sha' | 'ref' | 'parent_id' | 'merge_request_id' | 'source_job_id'
>

const setStatusStatement = statement(
  (p: Slots<{ id: number; status: string }>) => sql<Moved>`
    update pipelines set
           status = ${p.status}, updated_at = clock_timestamp(),
           started_at = case when ${p.status}::text = 'running' then coalesce(started_at, clock_timestamp())
                             else started_at end,
           finished_at = case when ${p.status}::text in ('success', 'failed', 'canceled', 'skipped')
                              then clock_timestamp() end,
           duration = case when ${p.status}::text in ('success', 'failed', 'canceled')
                           then (select round(extract(epoch from sum(upper(span) - lower(span))))::bigint
                                   from (select unnest(range_agg(tstzrange(j.started_at, greatest(j.started_at, coalesce(j.finished_at, clock_timestamp()))))) as span
                                           from ci_jobs j where j.pipeline_id = ${p.id} and j.started_at is not null) spans) end
     where id = ${p.id} and status <> ${p.status}
    returning id, project_id, status, sha, ref, parent_id, merge_request_id, source_job_id`,
)
/** The pipeline where its status changed; undefined where it had that status before. */
export const setPipelineStatus = (db: Db, id: number, status: string): Promise<Moved | undefined> =>
  db.one(setStatusStatement, { id, status })

const failureMode = statement((p: Slots<{ id: number }>) =>
  q.selectFrom('pipelines').select('on_job_failure').where('id', '=', p.id),
)
/** Whether the first failed job cancels the others. */
export const cancelsOnFailure = async (db: Db, id: number): Promise<boolean> =>
  (await db.one(failureMode, { id }))?.on_job_failure === 'all'
