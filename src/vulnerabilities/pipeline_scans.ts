import { sql } from 'kysely'
import { SECURITY_REPORTS } from '../core/delivery/security_reports.ts'
import type { Db } from '../db/db.ts'
import type { SecurityScan } from '../db/schema/vulnerabilities.ts'
import { statement, type Slots } from '../db/statement.ts'

// The security reports of pipelines, and what became of them.

const types = sql.join(SECURITY_REPORTS.map((type) => sql.lit(type)))

/** A report that a job of a pipeline uploaded. */
export interface ScanReport {
  readonly project_id: number
  /** The pipeline at the top of its family. */
  readonly pipeline_id: number
  readonly job_id: number
  readonly job_status: string
  readonly report_type: string
  readonly file_format: string
  readonly sha256: string
}

const reportsStatement = statement(
  (p: Slots<{ pipeline_id: number }>) => sql<ScanReport>`
    with recursive above as (
      select id, parent_id, project_id from pipelines where id = ${p.pipeline_id}
      union all
      select u.id, u.parent_id, u.project_id from pipelines u join above a on u.id = a.parent_id and u.project_id = a.project_id),
    family as (
      select id, id as top_id, project_id, status from pipelines
       where id = (select min(id) from above)
      union all
      select c.id, f.top_id, c.project_id, c.status from pipelines c
        join family f on c.parent_id = f.id and c.project_id = f.project_id)
    select f.project_id, f.top_id as pipeline_id, j.id as job_id, j.status as job_status, a.file_type as report_type,
           a.file_format, a.sha256
      from family f
      join ci_jobs j on j.pipeline_id = f.id and not j.retried
      join ci_job_artifacts a on a.job_id = j.id
     where a.file_type in (${types}) and (a.expire_at is null or a.expire_at > now())
       and not exists (
         select from family where status not in ('success', 'failed', 'canceled', 'skipped', 'manual'))
     order by j.id, a.id`,
)
/** The reports of a pipeline, its parents and children; none while one of these is not done. */
export const reportsOf = (db: Db, pipeline_id: number): Promise<ScanReport[]> =>
  db.rows(reportsStatement, { pipeline_id })

const newer = statement(
  (p: Slots<{ project_id: number; pipeline_id: number }>) => sql<{ report_type: string }>`
    select distinct report_type from security_scans
     where project_id = ${p.project_id} and pipeline_id > ${p.pipeline_id} and status = 'succeeded'`,
)
/** The types of report of which a later pipeline was imported already. */
export const newerTypes = async (
  db: Db,
  { project_id, pipeline_id }: Pick<ScanReport, 'project_id' | 'pipeline_id'>,
): Promise<Set<string>> =>
  new Set((await db.rows(newer, { project_id, pipeline_id })).map(({ report_type }) => report_type))

export type NewScan = Pick<
  SecurityScan,
  | 'project_id'
  | 'pipeline_id'
  | 'job_id'
  | 'report_type'
  | 'status'
  | 'faults'
  | 'created_count'
  | 'updated_count'
  | 'unchanged_count'
>
const note = statement(
  (p: Slots<NewScan>) => sql`
    insert into security_scans
      (project_id, pipeline_id, job_id, report_type, status, faults, created_count, updated_count, unchanged_count)
    values (${p.project_id}, ${p.pipeline_id}, ${p.job_id}, ${p.report_type}, ${p.status}, ${p.faults},
            ${p.created_count}, ${p.updated_count}, ${p.unchanged_count})
    on conflict on constraint security_scans_job_key do update set
      status = excluded.status, faults = excluded.faults, created_count = excluded.created_count,
      updated_count = excluded.updated_count, unchanged_count = excluded.unchanged_count, updated_at = now()`,
)
export const noteScan = (tx: Db, scan: NewScan): Promise<number> => tx.run(note, scan)

export type ListedScan = SecurityScan & { readonly job: string }

const listStatement = statement(
  (p: Slots<{ project_id: number; limit: number }>) => sql<ListedScan>`
    select s.*, j.name as job from security_scans s join ci_jobs j on j.id = s.job_id
     where s.project_id = ${p.project_id} order by s.id desc limit ${p.limit}`,
)
/** The last scans of a project, the newest first. */
export const listScans = (db: Db, project_id: number, limit: number): Promise<ListedScan[]> =>
  db.rows(listStatement, { project_id, limit })
