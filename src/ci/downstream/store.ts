import { sql } from 'kysely'
import type { Db } from '../../db/db.ts'
import type { Job } from '../../db/schema/ci.ts'
import { statement, type Slots } from '../../db/statement.ts'

const waiting = statement(
  (p: Slots<{ id: number }>) => sql<Job>`
    select * from ci_jobs
     where id = ${p.id} and kind = 'bridge' and status = 'pending' and downstream_id is null and started_at is null`,
)
/** A bridge whose downstream pipeline is to be created. */
export const findWaitingBridge = (db: Db, id: number): Promise<Job | undefined> => db.one(waiting, { id })

const attach = statement(
  (p: Slots<{ id: number; downstream_id: number }>) => sql`
    update ci_jobs set downstream_id = ${p.downstream_id}, started_at = clock_timestamp(), updated_at = clock_timestamp()
     where id = ${p.id}`,
)
export const attachDownstream = (db: Db, id: number, downstream_id: number): Promise<number> =>
  db.run(attach, { id, downstream_id })

/** Levels of upstream pipelines that are looked at: the size of a hierarchy bounds them too. */
const MAX_LEVELS = 1_000

/** A pipeline, or one that it comes from. */
export interface Upstream {
  readonly id: number
  readonly project_id: number
  readonly ref: string
  readonly source: string
}
const upstreams = statement(
  (p: Slots<{ id: number }>) => sql<Upstream>`
    with recursive above as (
      select id, project_id, ref, source, source_job_id, 0 as level from pipelines where id = ${p.id}
      union all
      select u.id, u.project_id, u.ref, u.source, u.source_job_id, a.level + 1
        from above a join ci_jobs j on j.id = a.source_job_id join pipelines u on u.id = j.pipeline_id
       where a.level < ${sql.lit(MAX_LEVELS)})
    select id, project_id, ref, source from above order by level`,
)
/** The pipeline and those that it comes from, the nearest first. */
export const upstreamsOf = (db: Db, id: number): Promise<Upstream[]> => db.rows(upstreams, { id })

const hierarchy = statement(
  (p: Slots<{ id: number; limit: number }>) => sql<{ count: number }>`
    with recursive below as (
      select ${p.id}::bigint as id
      union all
      select d.id from below b join ci_jobs j on j.pipeline_id = b.id and j.kind = 'bridge'
                        join pipelines d on d.source_job_id = j.id)
    select count(*)::int as count from (select from below limit ${p.limit}) rows`,
)
/** The pipelines that bridges made of one, itself among them; counted no further than `limit`. */
export const hierarchySize = async (db: Db, id: number, limit: number): Promise<number> =>
  (await db.one(hierarchy, { id, limit }))?.count ?? 0

const producer = statement(
  (p: Slots<{ pipeline_id: number; name: string }>) => sql<{ id: number }>`
    select id from ci_jobs
     where pipeline_id = ${p.pipeline_id} and name = ${p.name} and kind = 'build' and not retried and status = 'success'`,
)
/** The successful job of that name. */
export const findProducer = async (db: Db, pipeline_id: number, name: string): Promise<number | undefined> =>
  (await db.one(producer, { pipeline_id, name }))?.id

const unasked = statement(
  () => sql<{ id: number; project_id: number }>`
    select id, project_id from ci_jobs
     where kind = 'bridge' and status = 'pending' and downstream_id is null and started_at is null
       and queued_at < now() - interval '10 minutes' order by id limit 1000`,
)
/** Bridges that have waited for long: the job that creates their pipelines was given up. */
export const delayedBridges = (db: Db): Promise<{ id: number; project_id: number }[]> => db.rows(unasked, {})
