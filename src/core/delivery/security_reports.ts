import { sql } from 'kysely'
import type { Db } from '../../db/db.ts'
import { statement, type Slots } from '../../db/statement.ts'
import type { Job } from '../../jobs/job.ts'

/** Keys of `artifacts:reports` whose files hold findings of scanners. */
export const SECURITY_REPORTS = [
  'sast',
  'secret_detection',
  'dependency_scanning',
  'container_scanning',
  'cluster_image_scanning',
  'dast',
  'coverage_fuzzing',
  'api_fuzzing',
] as const

/** Imports the security reports of a pipeline: the room of vulnerabilities has the job of that name. */
export const securityReports: Pick<Job<{ pipeline_id: number }>, 'name'> = { name: 'import_security_reports' }

const ask = statement(
  (p: Slots<{ ids: readonly number[] }>) => sql`
    select graphile_worker.add_job(${sql.lit(securityReports.name)}, json_build_object('pipeline_id', i.id),
                                   job_key => ${sql.lit(securityReports.name)} || ' ' || i.id, max_attempts => 12)
      from pipelines i join projects p on p.id = i.project_id
     where i.id = any(${p.ids}::bigint[]) and i.ref = p.default_branch and not i.tag and i.merge_request_id is null
       and exists (
         select from ci_jobs j join ci_job_artifacts a on a.job_id = j.id
          where j.pipeline_id = i.id and a.file_type in (${sql.join(SECURITY_REPORTS.map((type) => sql.lit(type)))}))`,
)

const DONE = new Set(['success', 'failed', 'canceled', 'skipped', 'manual'])

/** Asks for the import of security reports where pipelines of a default branch are done. Call inside a transaction. */
export async function askForSecurityReports(
  tx: Db,
  moved: readonly { readonly id: number; readonly status: string }[],
): Promise<void> {
  const ids = moved.filter(({ status }) => DONE.has(status)).map(({ id }) => id)
  if (ids.length > 0) await tx.run(ask, { ids })
}
