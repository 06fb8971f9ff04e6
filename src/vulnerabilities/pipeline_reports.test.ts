import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { before, test } from 'node:test'
import { gzipSync } from 'node:zlib'
import { makePipeline, makeRunner } from '../../test/support/ci_engine.ts'
import { gitText, scratch, writeHistory } from '../../test/support/git_fixtures.ts'
import type { Someone } from '../../test/support/makers.ts'
import { plannedJob } from '../../test/support/planned_jobs.ts'
import { rowOf, rowsOf } from '../../test/support/rows.ts'
import { sharedWorld } from '../../test/support/stand.ts'
import { listen } from '../../test/support/wire.ts'
import { repositoryPath } from '../core/places/projects.ts'
import type { Project } from '../db/schema/tables.ts'
import { importSecurityReports, unpacked } from './pipeline_reports.ts'
import { BadReport } from './reading.ts'
import { listScans } from './pipeline_scans.ts'
import { list } from './states.ts'

const world = sharedWorld()
const TOKEN = 'glrt-scans'
let user: Someone
let port: number
let source: string
before(async () => {
  user = await world().make.user()
  await makeRunner(world(), { token: TOKEN })
  source = join(scratch(), 'scanned.git')
  writeHistory(source, 60, 1)
  port = await listen(world().app)
})

const REPORT = readFileSync(
  new URL('../../test/fixtures/scanners/gl-sast-report.json', import.meta.url),
  'utf8',
)
type Entry = Record<string, unknown>
const entries = (JSON.parse(REPORT) as { vulnerabilities: Entry[] }).vulnerabilities
const reportOf = (vulnerabilities: readonly unknown[], type = 'sast', id = 'semgrep'): string =>
  JSON.stringify({ vulnerabilities, scan: { type, scanner: { id, name: id } } })

/** Uploads of a job, by the type of its report, and how it ends. */
interface Ran {
  readonly reports: Readonly<Record<string, string | Buffer>>
  readonly state?: 'success' | 'failed'
  readonly format?: 'gzip' | 'raw'
}

async function makeProject(): Promise<Project> {
  const project = await world().make.project({ repository: source })
  await world().make.sql(`update projects set default_branch = 'main' where id = ${project.id}`)
  return project
}

/** Runs a pipeline whose jobs upload reports, as a runner does; its id. */
async function runPipeline(project: Project, jobs: readonly Ran[], ref = 'main'): Promise<number> {
  const planned = jobs.map((_, at) => plannedJob({ name: `job ${at}` }))
  const pipeline = await makePipeline(world(), project, planned, { user_id: user.id, ref })
  const { git } = world().opened.instance
  const sha = gitText(git.directory(repositoryPath(project.id)), ['rev-parse', 'main'])
  await rowsOf(world(), 'update pipelines set sha = $2 where id = $1', [pipeline.id, sha])
  for (const job of jobs) {
    const { body } = await world().call('POST', '/jobs/request', { body: { token: TOKEN } })
    const { id, token } = body as { readonly id: number; readonly token: string }
    for (const [type, content] of Object.entries(job.reports)) {
      const { format = 'gzip' } = job
      const bytes =
        typeof content === 'string' && format === 'gzip' ? gzipSync(content) : Buffer.from(content)
      const form = new FormData()
      form.set('file', new Blob([bytes]), 'report.json.gz')
      const url = `http://127.0.0.1:${port}/api/v4/jobs/${id}/artifacts?artifact_type=${type}&artifact_format=${format}`
      const answer = await fetch(url, { method: 'POST', headers: { 'job-token': token }, body: form })
      assert.equal(answer.status, 201)
    }
    const ended = await world().call('PUT', `/jobs/${id}`, { body: { token, state: job.state ?? 'success' } })
    assert.equal(ended.status, 200)
  }
  return pipeline.id
}

const queued = async (pipeline: number): Promise<number> =>
  (
    await rowsOf(world(), 'select from graphile_worker.jobs where key = $1', [
      `import_security_reports ${pipeline}`,
    ])
  ).length
const importOf = (pipeline_id: number): Promise<void> =>
  importSecurityReports.run(world().opened.instance, { pipeline_id })
async function runAndImport(project: Project, jobs: readonly Ran[]): Promise<number> {
  const id = await runPipeline(project, jobs)
  assert.equal(await queued(id), 1)
  await importOf(id)
  return id
}
const shown = async (project: Project): Promise<string[]> =>
  (
    await list(world().opened.instance.db, {
      project_id: project.id,
      state: null,
      severity: null,
      limit: 100,
    })
  ).map(({ name, gone_at }) => `${name}${gone_at === null ? '' : ' (gone)'}`)
const scansOf = async (project: Project): Promise<[string, string[]][]> =>
  (await listScans(world().opened.instance.db, project.id, 100))
    .toReversed()
    .map(({ status, faults }) => [status, faults])
const NAMES = ['Use of eval', String(entries[1]?.['name'])]

test('the reports of a pipeline of the default branch are imported when it is done, once', async () => {
  const project = await makeProject()
  for (let run = 0; run < 2; run += 1) {
    const id = await runAndImport(project, [{ reports: { sast: REPORT } }])
    await importOf(id)
    assert.deepEqual(await shown(project), NAMES)
  }
  const scans = await listScans(world().opened.instance.db, project.id, 10)
  assert.deepEqual(
    scans.map(({ status, created_count, unchanged_count }) => [status, created_count, unchanged_count]),
    [
      ['succeeded', 0, 2],
      ['succeeded', 0, 2],
    ],
  )
})

test('a pipeline of another branch, and one without reports, imports nothing', async () => {
  const project = await makeProject()
  assert.equal(await queued(await runPipeline(project, [{ reports: { sast: REPORT } }], 'topic')), 0)
  assert.equal(await queued(await runPipeline(project, [{ reports: { junit: '<a/>' } }])), 0)
  assert.deepEqual(await shown(project), [])
})

test('reports of several jobs by one scanner decide together what is gone', async () => {
  const project = await makeProject()
  const [first, second] = entries
  const parts = [{ reports: { sast: reportOf([first]) } }, { reports: { sast: reportOf([second]) } }]
  for (let run = 0; run < 2; run += 1) {
    await runAndImport(project, parts)
    assert.deepEqual(await shown(project), NAMES)
  }
  await runAndImport(project, [{ reports: { sast: reportOf([second]) } }])
  assert.deepEqual(await shown(project), [`${NAMES[0]} (gone)`, NAMES[1]])
})

test('reports that follow each other in one file are read, packed or not', async () => {
  const [first, second] = entries.map((entry) => reportOf([entry]))
  for (const [format, content] of [
    ['raw', `${first}\n${second}`],
    ['gzip', Buffer.concat([gzipSync(first ?? ''), gzipSync(second ?? '')])],
  ] as const) {
    const project = await makeProject()
    await runAndImport(project, [{ reports: { sast: content }, format }])
    assert.deepEqual(await shown(project), NAMES)
  }
})

test('a bad report is noted with its faults, and changes nothing', async () => {
  const bad = { ...entries[0], severity: 'Enormous' }
  for (const [content, faults] of [
    [
      reportOf([entries[1], bad]),
      ['1 entry is invalid', 'vulnerabilities[1]: severity "Enormous" is not known'],
    ],
    [REPORT.slice(0, -20), [`not JSON at byte ${REPORT.length - 20}`]],
    [reportOf([], 'dast'), ['scan.type is "dast", not "sast"']],
    ['[]', ['scan is not an object']],
    [Buffer.from('plain'), ['not gzip: incorrect header check']],
    [gzipSync(REPORT).subarray(0, 100), ['not gzip: unexpected end of file']],
  ] as const) {
    const project = await makeProject()
    await runAndImport(project, [{ reports: { sast: REPORT } }])
    await runAndImport(project, [
      { reports: { sast: content } },
      { reports: { sast: reportOf([]), secret_detection: reportOf([entries[0]], 'secret_detection') } },
    ])
    // The empty report of the same type marks nothing as gone: what the bad one names is not known.
    assert.deepEqual(await shown(project), [...NAMES, NAMES[0]])
    assert.deepEqual(await scansOf(project), [
      ['succeeded', []],
      ['report_error', faults],
      ['succeeded', []],
      ['succeeded', []],
    ])
  }
})

test('the report of a failed job is noted and not read', async () => {
  const project = await makeProject()
  await runAndImport(project, [{ reports: { sast: REPORT }, state: 'failed' }])
  assert.deepEqual([await shown(project), await scansOf(project)], [[], [['job_failed', []]]])
})

test('a pipeline that ends after a later one was imported changes nothing', async () => {
  const project = await makeProject()
  const earlier = await runPipeline(project, [{ reports: { sast: reportOf([]) } }])
  await runAndImport(project, [{ reports: { sast: REPORT } }])
  await importOf(earlier)
  assert.deepEqual(await shown(project), NAMES)
  assert.deepEqual(
    (await scansOf(project)).map(([status]) => status),
    ['succeeded', 'outdated'],
  )
})

test('a child pipeline and its parent are imported together, when both are done', async () => {
  const project = await makeProject()
  const [first, second] = entries.map((entry) => ({ reports: { sast: reportOf([entry]) } }))
  assert.ok(first && second)
  const parent = await runPipeline(project, [first])
  const child = await runPipeline(project, [second])
  await world().make.sql(`
    update pipelines set parent_id = ${parent} where id = ${child};
    update pipelines set status = 'running' where id = ${parent}`)
  await importOf(child)
  assert.deepEqual(await shown(project), [])
  await world().make.sql(`update pipelines set status = 'success' where id = ${parent}`)
  await importOf(parent)
  assert.deepEqual(await shown(project), NAMES)
  const { count } = await rowOf<{ count: string }>(
    world(),
    'select count(*)::int from security_scans where project_id = $1 and pipeline_id = $2',
    [project.id, parent],
  )
  assert.equal(count, 2)
})

test('a file that unpacks to more than its limit is cut off', async () => {
  const limit = 1_000_000
  const bomb = gzipSync(Buffer.alloc(100 * limit, 0x20))
  let bytes = 0
  await assert.rejects(async () => {
    for await (const chunk of unpacked(Readable.from([bomb]), { isPacked: true, limit }))
      bytes += chunk.length
  }, new BadReport('the report is larger than 1000000 bytes'))
  assert.ok(bytes <= limit)
})
