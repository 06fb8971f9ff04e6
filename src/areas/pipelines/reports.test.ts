import assert from 'node:assert/strict'
import { before, test } from 'node:test'
import { gzipSync } from 'node:zlib'
import { makePipeline } from '../../../test/support/ci_engine.ts'
import type { Someone } from '../../../test/support/makers.ts'
import { plannedJob } from '../../../test/support/planned_jobs.ts'
import { rowsOf } from '../../../test/support/rows.ts'
import { sharedWorld } from '../../../test/support/stand.ts'
import type { Project } from '../../db/schema/tables.ts'

const world = sharedWorld()
let project: Project
let developer: Someone
before(async () => {
  const { make } = world()
  project = await make.project()
  developer = await make.memberOf('developer', { project })
})

type Body = Record<string, unknown>
async function reportsOf(files: Readonly<Record<string, Buffer>>): Promise<(what: string) => Promise<Body>> {
  const names = Object.keys(files)
  const jobs = names.map((name) => plannedJob({ name }))
  const pipeline = await makePipeline(world(), project, jobs, { user_id: developer.id })
  const { blobs } = world().opened.instance
  for (const [name, bytes] of Object.entries(files)) {
    const body = async function* (): AsyncGenerator<Buffer> {
      yield bytes
    }
    const { sha256, size } = await blobs.write(body(), { limit: 100_000_000 })
    await rowsOf(
      world(),
      `insert into ci_job_artifacts (job_id, project_id, file_type, file_format, filename, size, sha256)
       select id, project_id, 'junit', 'gzip', 'junit.xml.gz', $3, $4 from ci_jobs where pipeline_id = $1 and name = $2`,
      [pipeline.id, name, size, sha256],
    )
  }
  return async (what) => {
    const answer = await world().get(`/projects/${project.id}/pipelines/${pipeline.id}/${what}`, developer)
    assert.equal(answer.status, 200, answer.text)
    return answer.body as Body
  }
}
const zeros = {
  total_time: 0,
  total_count: 0,
  success_count: 0,
  failed_count: 0,
  skipped_count: 0,
  error_count: 0,
}

test('a pipeline without reports has zeros', async () => {
  const read = await reportsOf({})
  assert.deepEqual(await read('test_report'), { ...zeros, test_suites: [] })
  assert.deepEqual(await read('test_report_summary'), {
    total: { time: 0, count: 0, success: 0, failed: 0, skipped: 0, error: 0, suite_error: null },
    test_suites: [],
  })
})

test('the suites of a pipeline are its jobs, parallel ones together, failures first', async () => {
  const unit = (name: string, more = ''): Buffer =>
    gzipSync(`<testsuite><testcase classname="c" name="${name}" time="0.5">${more}</testcase></testsuite>`)
  const read = await reportsOf({
    'unit 1/2': unit('good'),
    'unit 2/2': unit('bad', '<failure>boom</failure>'),
    'lint: [a]': gzipSync('no report'),
  })
  const counts = { ...zeros, total_time: 1, total_count: 2, success_count: 1, failed_count: 1 }
  const { test_suites, ...total } = await read('test_report')
  assert.deepEqual(total, counts)
  const shown = { classname: 'c', file: null, execution_time: 0.5, stack_trace: null }
  assert.deepEqual(test_suites, [
    {
      name: 'unit',
      ...counts,
      suite_error: null,
      test_cases: [
        { ...shown, status: 'failed', name: 'bad', system_output: 'boom' },
        { ...shown, status: 'success', name: 'good', system_output: null },
      ],
    },
    {
      name: 'lint: [a]',
      ...zeros,
      suite_error: 'JUnit XML parsing failed: there is no element',
      test_cases: [],
    },
  ])
  const summary = (await read('test_report_summary'))['test_suites'] as Body[]
  assert.deepEqual(
    summary.map(({ name, total_count, build_ids }) => [name, total_count, (build_ids as []).length]),
    [
      ['unit', 2, 2],
      ['lint: [a]', 0, 1],
    ],
  )
})

test('a report that inflates past 10 MiB, or is no gzip, is the error of its suite', async () => {
  const read = await reportsOf({ bomb: gzipSync(Buffer.alloc(50_000_000, ' ')), plain: Buffer.from('<a/>') })
  const suites = (await read('test_report'))['test_suites'] as Body[]
  assert.deepEqual(
    suites.map(({ suite_error }) => suite_error),
    [
      'JUnit XML parsing failed: the report is too large',
      'JUnit XML parsing failed: the report is not compressed by gzip',
    ],
  )
})
