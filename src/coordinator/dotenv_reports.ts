import { byKey, expand } from '../ci/config/expand.ts'
import type { Variable } from '../ci/config/plan.ts'
import { deploymentUrl, setDeploymentUrl } from '../ci/environments/deployments.ts'
import { BadDotenv, dotenvLimits, dotenvTooBig, readDotenv } from '../ci/reports/dotenv.ts'
import { BadReport, readReport, ReportTooLarge, type UploadedReport } from '../ci/reports/report_file.ts'
import { findProjectAs } from '../core/places/project_roles.ts'
import type { Db } from '../db/db.ts'
import type { Job } from '../db/schema/ci.ts'
import { refused } from '../http/problems.ts'
import type { Instance } from '../instance.ts'

/** Bytes that are read of a dotenv report, whatever the plan allows. */
const MAX_DOTENV_BYTES = 1024 * 1024
/** Bytes by which gzip may lengthen a small file. */
const GZIP_OVERHEAD = 1024

/** The variables of a dotenv report that a job uploads. Throws 400 with the published texts. */
export async function readVariables(
  { db, blobs }: Pick<Instance, 'db' | 'blobs'>,
  { project_id, user_id }: Job,
  report: UploadedReport,
): Promise<Variable[]> {
  const project = await findProjectAs(db, project_id, user_id)
  const limits = await dotenvLimits(db, project ?? { traversal_ids: [] })
  const size = Math.min(limits.size, MAX_DOTENV_BYTES)
  try {
    const bytes = await readReport(blobs, report, size + GZIP_OVERHEAD)
    return readDotenv(bytes, { ...limits, size })
  } catch (error) {
    if (error instanceof ReportTooLarge) throw refused(dotenvTooBig(size).message)
    if (error instanceof BadReport) throw refused('Invalid Format')
    throw error instanceof BadDotenv ? refused(error.message) : error
  }
}

/** Puts the variables of a job's own dotenv report into the address that it deploys to. */
export async function nameDeployment(db: Db, jobId: number, dotenv: readonly Variable[]): Promise<void> {
  const url = await deploymentUrl(db, jobId)
  const known = byKey(dotenv)
  const named = url === null ? null : expand(url, (key) => known.get(key))
  if (named !== null && named !== url) await setDeploymentUrl(db, jobId, named)
}
