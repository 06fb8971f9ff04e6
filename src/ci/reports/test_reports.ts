import { sql } from 'kysely'
import { statement, type Slots } from '../../db/statement.ts'
import type { Instance } from '../../instance.ts'
import { readJunit, type TestCase } from './junit.ts'
import { BadReport, readReport, type UploadedReport } from './report_file.ts'

const MB = 1024 * 1024
/** Inflated bytes of one report, and of all of a pipeline. */
const MAX_REPORT_BYTES = 10 * MB
const MAX_PIPELINE_BYTES = 20 * MB
const MAX_CASES = 50_000
const ORDER: readonly TestCase['status'][] = ['error', 'failed', 'success', 'skipped']

/** The results of a job, or of the parts of a parallel one. */
export interface TestSuite {
  readonly name: string
  readonly build_ids: number[]
  readonly test_cases: TestCase[]
  suite_error: string | null
}

interface Report extends UploadedReport {
  readonly job_id: number
  readonly job_name: string
}
const reports = statement(
  (p: Slots<{ pipeline_id: number }>) => sql<Report>`
    select j.id as job_id, j.name as job_name, a.sha256, a.size, a.file_format
      from ci_jobs j join ci_job_artifacts a on a.job_id = j.id and a.file_type = 'junit'
     where j.pipeline_id = ${p.pipeline_id} and not j.retried and (a.expire_at is null or a.expire_at > now())
     order by j.id`,
)

/** `unit 2/3` belongs to the suite `unit`; the parts of a matrix are suites of their own. */
const suiteName = (job: string): string => job.replace(/\s+\d+\/\d+$/, '')

/** Reads the JUnit reports of a pipeline's latest jobs. What cannot be read is the error of its suite. */
export async function readTestReports(
  { db, blobs }: Pick<Instance, 'db' | 'blobs'>,
  pipelineId: number,
): Promise<TestSuite[]> {
  const suites = new Map<string, TestSuite>()
  let [bytes, cases] = [MAX_PIPELINE_BYTES, MAX_CASES]
  for (const report of await db.rows(reports, { pipeline_id: pipelineId })) {
    const name = suiteName(report.job_name)
    const suite = suites.get(name) ?? { name, build_ids: [], test_cases: [], suite_error: null }
    suites.set(name, suite)
    suite.build_ids.push(report.job_id)
    try {
      const text = await readReport(blobs, report, Math.min(bytes, MAX_REPORT_BYTES))
      bytes -= text.length
      const found = await readJunit(text.toString(), cases)
      cases -= found.length
      for (const one of found) suite.test_cases.push(one)
    } catch (error) {
      if (!(error instanceof BadReport)) throw error
      suite.suite_error = `JUnit XML parsing failed: ${error.message}`
    }
  }
  for (const { test_cases } of suites.values())
    test_cases.sort((a, b) => ORDER.indexOf(a.status) - ORDER.indexOf(b.status))
  return [...suites.values()]
}
