import { sql } from 'kysely'
import type { Db } from '../../db/db.ts'
import type { JobArtifact } from '../../db/schema/ci.ts'
import { statement, type Slots } from '../../db/statement.ts'
import type { Job as QueuedJob } from '../../jobs/job.ts'

/** The kinds of files that a runner uploads. */
export const FILE_TYPES = [
  'archive',
  'metadata',
  'trace',
  'junit',
  'dotenv',
  'cobertura',
  'codequality',
  'sast',
  'secret_detection',
  'dependency_scanning',
  'container_scanning',
  'cluster_image_scanning',
  'dast',
  'license_scanning',
  'performance',
  'browser_performance',
  'load_performance',
  'metrics',
  'network_referee',
  'lsif',
  'accessibility',
  'requirements',
  'requirements_v2',
  'coverage_fuzzing',
  'api_fuzzing',
  'terraform',
  'cyclonedx',
  'annotations',
  'repository_xray',
] as const

export type NewArtifact = Pick<
  JobArtifact,
  'job_id' | 'project_id' | 'file_type' | 'file_format' | 'filename' | 'size' | 'sha256'
> & {
  /** Seconds until it expires; null for never. */
  readonly expires_in: number | null
  /** The variables of a dotenv report, sealed. */
  readonly dotenv: Buffer | null
}

const keep = statement(
  (p: Slots<NewArtifact>) => sql<{ id: number }>`
    with at_work as (
      select id from ci_jobs where id = ${p.job_id} and status in ('running', 'canceling') for update),
    kept as (
      insert into ci_job_artifacts (job_id, project_id, file_type, file_format, filename, size, sha256, expire_at)
      select id, ${p.project_id}, ${p.file_type}, ${p.file_format}, ${p.filename}, ${p.size}, ${p.sha256},
             now() + make_interval(secs => ${p.expires_in}::float)
        from at_work
      on conflict (job_id, file_type) do update set
        file_format = excluded.file_format, filename = excluded.filename, size = excluded.size,
        sha256 = excluded.sha256, expire_at = excluded.expire_at, created_at = now()
      returning job_id, file_type, expire_at),
    dated as (
      update ci_jobs j set artifacts_expire_at = kept.expire_at from kept
       where j.id = kept.job_id and kept.file_type = 'archive'),
    reported as (
      update ci_jobs j set dotenv = ${p.dotenv}::bytea from kept
       where j.id = kept.job_id and kept.file_type = 'dotenv')
    select job_id as id from kept`,
)
/**
 * Keeps a file of a job; a second one of its kind takes its place. False where the job ended meanwhile: it may be erased.
 */
export const keepArtifact = async (db: Db, artifact: NewArtifact): Promise<boolean> =>
  (await db.one(keep, artifact)) !== undefined

const find = statement(
  (p: Slots<{ job_id: number; file_type: string }>) => sql<JobArtifact>`
    select * from ci_job_artifacts
     where job_id = ${p.job_id} and file_type = ${p.file_type} and (expire_at is null or expire_at > now())`,
)
/** A file of a job that has not expired. */
export const findArtifact = (db: Db, jobId: number, fileType: string): Promise<JobArtifact | undefined> =>
  db.one(find, { job_id: jobId, file_type: fileType })

const expire = statement(
  () => sql`
    delete from ci_job_artifacts where id in (
      select id from ci_job_artifacts where expire_at <= now() order by expire_at limit 1000)`,
)
/** Forgets files whose time is over; the bytes go with the next collection. How many. */
export const expireArtifacts = (db: Db): Promise<number> => db.run(expire, {})

const removable = statement(
  (p: Slots<{ project_id: number }>) => sql`
    with gone as (
      delete from ci_job_artifacts where id in (
        select a.id from ci_job_artifacts a join ci_jobs j on j.id = a.job_id
         where a.project_id = ${p.project_id} and j.status in ('success', 'failed', 'canceled') limit 1000)
      returning job_id)
    update ci_jobs set artifacts_expire_at = null where id in (select job_id from gone)`,
)
/** Removes the artifacts of all finished jobs of a project. */
export const removeArtifacts: QueuedJob<{ readonly project_id: number }> = {
  name: 'remove_artifacts',
  run: async ({ db }, { project_id }) => {
    while ((await db.run(removable, { project_id })) > 0);
  },
}
