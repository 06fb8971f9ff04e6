import { sql } from 'kysely'
import type { Db } from '../../db/db.ts'
import { statement, type Slots } from '../../db/statement.ts'
import type { Job } from '../../db/schema/ci.ts'
import type { JobOnRef } from './store.ts'

/** The readers of a job's artifacts, as its configuration says. */
interface ArtifactsOptions {
  readonly public?: boolean
  readonly access?: 'all' | 'developer' | 'maintainer' | 'none'
}

const options = statement(
  (p: Slots<{ id: number }>) => sql<{ artifacts: ArtifactsOptions | null }>`
    select s.options->'artifacts' as artifacts from ci_jobs j join ci_job_specs s on s.id = j.spec_id where j.id = ${p.id}`,
)
export const artifactsOptions = async (db: Db, id: number): Promise<ArtifactsOptions> =>
  (await db.one(options, { id }))?.artifacts ?? {}

const newest = statement(
  (p: Slots<{ project_id: number; ref: string; name: string }>) => sql<JobOnRef>`
    select j.*, p.ref, p.tag from ci_jobs j join pipelines p on p.id = j.pipeline_id
     where p.id = (select id from pipelines where project_id = ${p.project_id} and ref = ${p.ref} and status = 'success'
                      and parent_id is null
                    order by id desc limit 1)
       and j.name = ${p.name} and j.status = 'success' and not j.retried and j.kind = 'build'`,
)
/** The job of that name in the newest successful pipeline of a branch or tag. */
export const findOnRef = (
  db: Db,
  place: { readonly project_id: number; readonly ref: string; readonly name: string },
): Promise<JobOnRef | undefined> => db.one(newest, place)

const keepStatement = statement(
  (p: Slots<{ id: number }>) => sql<Job>`
    with kept as (
      update ci_job_artifacts set expire_at = null
       where job_id = ${p.id} and (expire_at is null or expire_at > now()) returning job_id)
    update ci_jobs set artifacts_expire_at = null, updated_at = now()
     where id in (select job_id from kept) returning *`,
)
/** Keeps the artifacts of a job for ever; undefined where it has none. */
export const keep = (db: Db, id: number): Promise<Job | undefined> => db.one(keepStatement, { id })

const removeStatement = statement(
  (p: Slots<{ id: number }>) => sql`
    with gone as (delete from ci_job_artifacts where job_id = ${p.id})
    update ci_jobs set artifacts_expire_at = null, dotenv = null, updated_at = now() where id = ${p.id}`,
)
export const remove = (db: Db, id: number): Promise<number> => db.run(removeStatement, { id })
