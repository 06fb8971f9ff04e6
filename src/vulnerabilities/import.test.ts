import assert from 'node:assert/strict'
import { createReadStream, readFileSync } from 'node:fs'
import { Readable } from 'node:stream'
import { test } from 'node:test'
import type { Project } from '../db/schema/tables.ts'
import { contents, sharedWorld } from '../../test/support/stand.ts'
import { rowsOf } from '../../test/support/rows.ts'
import { InvalidEntries, importReport, type ImportCounts } from './import.ts'
import { BadReport, type FormatName } from './reading.ts'
import { changeState, list } from './states.ts'

const world = sharedWorld()
const REPORTS = new URL('../../test/fixtures/scanners/', import.meta.url)
const NONE = {
  created: 0,
  updated: 0,
  reappeared: 0,
  unchanged: 0,
  duplicates: 0,
  invalid: 0,
  gone: 0,
  faults: [],
}

const importFile = (project: Project, format: FormatName, name: string): Promise<ImportCounts> =>
  importReport(world().opened.instance.db, {
    projectId: project.id,
    format,
    open: () => createReadStream(new URL(name, REPORTS)),
    skipInvalid: false,
  })
const importText = (
  project: Project,
  format: FormatName,
  report: object,
  skipInvalid = false,
): Promise<ImportCounts> =>
  importReport(world().opened.instance.db, {
    projectId: project.id,
    format,
    open: () => Readable.from([Buffer.from(JSON.stringify(report))]),
    skipInvalid,
  })
const listed = async (project: Project) =>
  list(world().opened.instance.db, { project_id: project.id, state: null, severity: null, limit: 100 })

interface GitlabReport {
  vulnerabilities: Record<string, unknown>[]
  scan: unknown
}
const sast = (): GitlabReport =>
  JSON.parse(readFileSync(new URL('gl-sast-report.json', REPORTS), 'utf8')) as GitlabReport

test('the output of npm audit is imported: a vulnerability an advisory', async () => {
  const project = await world().make.project()
  assert.deepEqual(await importFile(project, 'npm-audit', 'npm-audit.json'), { ...NONE, created: 2 })
  const rows = await listed(project)
  assert.deepEqual(
    rows.map(({ name, severity, report_type, scanner_name, cvss_vectors }) => [
      name,
      severity,
      report_type,
      scanner_name,
      cvss_vectors,
    ]),
    [
      [
        'Prototype Pollution in lodash (demo advisory)',
        'high',
        'dependency_scanning',
        'npm audit',
        ['CVSS:3.1/AV:N/AC:H/PR:N/UI:N/S:U/C:N/I:H/A:H'],
      ],
      ['Prototype Pollution in minimist (demo advisory)', 'medium', 'dependency_scanning', 'npm audit', []],
    ],
  )
  assert.deepEqual(
    rows[0]?.identifiers.map(({ name }) => name),
    ['GHSA-demo-lodash', 'NPM-1065', 'CWE-1321'],
  )
})

test('the SARIF of ESLint is imported: a vulnerability a result', async () => {
  const project = await world().make.project()
  assert.deepEqual(await importFile(project, 'sarif', 'eslint.sarif'), { ...NONE, created: 4 })
  const rows = await listed(project)
  assert.deepEqual(
    rows.map(({ name, severity, location }) => [name, severity, location['start_column']]),
    [
      ['eval with argument of type Identifier', 'medium', 59],
      ['eval can be harmful.', 'high', 59],
      ['Found child_process.exec() with non Literal first argument', 'medium', 68],
      ['Found non-literal argument to RegExp Constructor', 'medium', 93],
    ],
  )
})

test('a report in GitLab’s format is imported, its scan standing behind its findings', async () => {
  const project = await world().make.project()
  assert.deepEqual(await importFile(project, 'gitlab', 'gl-sast-report.json'), { ...NONE, created: 2 })
  const [first, second] = await listed(project)
  assert.deepEqual(
    [first?.name, first?.severity, first?.solution, first?.location],
    ['Use of eval', 'critical', 'Parse the value.', { file: 'src/run.js', start_line: 12, end_line: 12 }],
  )
  assert.deepEqual([second?.severity, second?.description, second?.cvss_vectors], ['medium', '', []])
})

test('a second import of the same report changes nothing', async () => {
  const project = await world().make.project()
  for (const [format, name, count] of [
    ['gitlab', 'gl-sast-report.json', 2],
    ['sarif', 'eslint.sarif', 4],
    ['npm-audit', 'npm-audit.json', 2],
  ] as const) {
    await importFile(project, format, name)
    const before = await contents(world())
    const again = await importFile(project, format, name)
    // GitLab's report and ESLint's are of one scanner: the one makes the findings of the other gone.
    assert.deepEqual(again, { ...NONE, unchanged: count })
    assert.equal(await contents(world()), before)
  }
})

test('a finding that is gone is marked, and unmarked when it is back; a resolved one is detected again', async () => {
  const { make, opened } = world()
  const project = await make.project()
  const user = await make.user()
  const report = sast()
  await importText(project, 'gitlab', report)
  const [first] = await listed(project)
  assert.ok(first)
  const transition = { id: first.id, author_id: user.id, dismissal_reason: null, comment: 'mended' }
  assert.equal(await changeState(opened.instance.db, { ...transition, to_state: 'resolved' }), true)
  assert.equal(await changeState(opened.instance.db, { ...transition, to_state: 'resolved' }), false)

  const less = { ...report, vulnerabilities: report.vulnerabilities.slice(1) }
  assert.deepEqual(await importText(project, 'gitlab', less), { ...NONE, unchanged: 1, gone: 1 })
  assert.deepEqual(
    (await listed(project)).map(({ gone_at, state }) => [gone_at !== null, state]),
    [
      [true, 'resolved'],
      [false, 'detected'],
    ],
  )
  assert.deepEqual(await importText(project, 'gitlab', report), { ...NONE, reappeared: 1, unchanged: 1 })
  assert.deepEqual(
    (await listed(project)).map(({ gone_at, state }) => [gone_at, state]),
    [
      [null, 'detected'],
      [null, 'detected'],
    ],
  )
  assert.deepEqual(
    await rowsOf(
      world(),
      'select author_id, from_state, to_state, comment from vulnerability_transitions where vulnerability_id = $1 order by id',
      [first.id],
    ),
    [
      { author_id: user.id, from_state: 'detected', to_state: 'resolved', comment: 'mended' },
      { author_id: null, from_state: 'resolved', to_state: 'detected', comment: '' },
    ],
  )
})

test('a report without findings makes all of its scanner’s gone, and no others', async () => {
  const project = await world().make.project()
  await importFile(project, 'npm-audit', 'npm-audit.json')
  await importFile(project, 'sarif', 'eslint.sarif')
  const runs = [{ tool: { driver: { name: 'ESLint' } }, results: [] }]
  assert.deepEqual(await importText(project, 'sarif', { version: '2.1.0', runs }), { ...NONE, gone: 4 })
  const gone = (await listed(project)).filter(({ gone_at }) => gone_at !== null)
  assert.deepEqual([...new Set(gone.map(({ scanner_name }) => scanner_name))], ['ESLint'])
})

test('a changed finding is updated and keeps its state', async () => {
  const project = await world().make.project()
  const report = sast()
  await importText(project, 'gitlab', report)
  const [entry, ...others] = report.vulnerabilities
  const changed = { ...report, vulnerabilities: [{ ...entry, severity: 'Low' }, ...others] }
  assert.deepEqual(await importText(project, 'gitlab', changed), { ...NONE, updated: 1, unchanged: 1 })
  assert.equal((await listed(project))[0]?.severity, 'low')
})

test('bad entries are named and nothing is imported; on request they are skipped', async () => {
  const project = await world().make.project()
  const report = sast()
  const [good] = report.vulnerabilities
  const bad = {
    ...report,
    vulnerabilities: [
      { ...good, severity: 'Enormous' },
      { ...good, identifiers: [] },
      'text',
      { ...good, name: 'nul \u0000' },
      { ...good, description: '\ud800' },
      { ...good, description: 'x'.repeat(1024 * 1024) },
      good,
      good,
    ],
  }
  const faults = [
    'vulnerabilities[0]: severity "Enormous" is not known',
    'vulnerabilities[1]: identifiers is missing',
    'vulnerabilities[2]: the entry is not an object',
    'vulnerabilities[3]: the entry holds characters that cannot be stored',
    'vulnerabilities[4]: the entry holds characters that cannot be stored',
    'vulnerabilities[5]: the entry is larger than 1048576 bytes',
  ]
  await assert.rejects(importText(project, 'gitlab', bad), (error) => {
    assert.ok(error instanceof InvalidEntries)
    assert.deepEqual([error.message, error.faults], ['6 entries are invalid', faults])
    return true
  })
  assert.deepEqual(await listed(project), [])
  const counts = await importText(project, 'gitlab', bad, true)
  assert.deepEqual(counts, { ...NONE, created: 1, duplicates: 1, invalid: 6, faults })
})

test('a report of another kind is refused', async () => {
  const project = await world().make.project()
  for (const [format, report, message] of [
    ['gitlab', {}, 'scan is not an object'],
    [
      'gitlab',
      { scan: { type: 'magic', scanner: { id: 'x', name: 'X' } } },
      'scan.type "magic" is not known',
    ],
    ['sarif', {}, 'runs is missing'],
    ['npm-audit', { auditReportVersion: 1 }, 'auditReportVersion is not 2'],
  ] as const)
    await assert.rejects(importText(project, format, report), new BadReport(message))
})

/** A report in GitLab's format with one entry, which these fields are part of. */
const withEntry = (fields: object, type = 'sast'): object => {
  const { vulnerabilities } = sast()
  const scan = { type, scanner: { id: 'made', name: 'Made' } }
  return { scan, vulnerabilities: [{ ...vulnerabilities[0], ...fields }] }
}
const importBytes = (project: Project, bytes: Buffer, skipInvalid = false): Promise<ImportCounts> =>
  importReport(world().opened.instance.db, {
    projectId: project.id,
    format: 'gitlab',
    open: () => Readable.from([bytes]),
    skipInvalid,
  })

test('a finding is the same one while its version, image tag, commit or host changes', async () => {
  for (const [type, before, after] of [
    ['sast', { file: 'a.js', start_line: 1, class: 'A' }, { file: 'a.js', start_line: 1, class: 'B' }],
    ['secret_detection', { file: 'a', commit: { sha: '1' } }, { file: 'a', commit: { sha: '2' } }],
    [
      'dependency_scanning',
      { file: 'package-lock.json', dependency: { package: { name: 'lodash' }, version: '4.17.1' } },
      { file: 'package-lock.json', dependency: { package: { name: 'lodash' }, version: '4.17.2' } },
    ],
    [
      'container_scanning',
      { image: 'registry:5000/app:abc', dependency: { package: { name: 'zlib' } } },
      { image: 'registry:5000/app@sha256:00ff', dependency: { package: { name: 'zlib' } } },
    ],
    ['dast', { hostname: 'http://a', path: '/x', method: 'GET' }, { path: '/x', method: 'GET' }],
  ] as const) {
    const project = await world().make.project()
    await importText(project, 'gitlab', withEntry({ location: before }, type))
    assert.deepEqual(
      await importText(project, 'gitlab', withEntry({ location: after }, type)),
      { ...NONE, updated: 1 },
      type,
    )
  }
})

test('a finding at another place, and one of another kind at the same place, is another one', async () => {
  const project = await world().make.project()
  const [first] = sast().vulnerabilities
  const location = { file: 'a.js', start_line: 1 }
  const entries = [
    { ...first, location },
    { ...first, location: { ...location, start_line: 11 } },
    { ...first, location: { file: 'a.js:1', start_line: 1 } },
    { ...first, location: { start_line: 1 } },
    { ...first, location, identifiers: [{ type: 'cwe', name: 'CWE-1', value: '1' }] },
  ]
  const report = { ...(withEntry({}) as GitlabReport), vulnerabilities: entries }
  assert.deepEqual(await importText(project, 'gitlab', report), { ...NONE, created: 5 })
})

test('texts beyond their limits are cut, without halves of characters', async () => {
  const project = await world().make.project()
  const identifiers = Array.from({ length: 30 }, (_, at) => ({
    type: 'cve',
    name: 'C'.repeat(1_000),
    value: String(at),
    url: 'u'.repeat(10_000),
  }))
  const fields = {
    name: `${'n'.repeat(254)}\u{1F600}`,
    description: 'd'.repeat(100_000),
    solution: 's'.repeat(100_000),
    identifiers,
  }
  assert.deepEqual(await importText(project, 'gitlab', withEntry(fields)), { ...NONE, created: 1 })
  const [row] = await listed(project)
  assert.deepEqual(
    [row?.name, row?.description.length, row?.solution.length, row?.identifiers.length],
    ['n'.repeat(254), 15_000, 7_000, 20],
  )
  assert.deepEqual(row?.identifiers[0], { type: 'cve', name: 'C'.repeat(255), value: '0' })
})

test('an entry with a name of JavaScript, deep nesting or bytes that are no text is invalid', async () => {
  const project = await world().make.project()
  const deep = `${'['.repeat(200_000)}${']'.repeat(200_000)}`
  for (const [json, fault] of [
    ['"severity": "constructor"', 'severity "constructor" is not known'],
    ['"severity": "__proto__"', 'severity "__proto__" is not known'],
    [`"location": {"file": "a", "x": ${deep}}`, 'the entry is nested deeper than 100 levels'],
    ['"name": "\xff"', 'the entry is not UTF-8'],
    [`"severity": "${'x'.repeat(10_000)}"`, `severity "${'x'.repeat(190)}`],
  ] as const) {
    const text = JSON.stringify(withEntry({ last: 0 })).replace('"last":0', json)
    await assert.rejects(importBytes(project, Buffer.from(text, 'latin1')), (error) => {
      assert.ok(error instanceof InvalidEntries)
      assert.deepEqual(error.faults, [`vulnerabilities[0]: ${fault}`])
      return true
    })
  }
  assert.deepEqual(await listed(project), [])
})

test('keys that stand twice in a report are read as they come', async () => {
  const project = await world().make.project()
  const text = JSON.stringify(withEntry({}))
  const twice = `${text.slice(0, -1)},${text.slice(1)}`
  assert.deepEqual(await importBytes(project, Buffer.from(twice)), { ...NONE, created: 1, duplicates: 1 })
})

test('a scanner that cannot be stored refuses the report', async () => {
  const project = await world().make.project()
  for (const [name, message] of [
    ['x'.repeat(256), 'the name of the scanner is longer than 255 characters'],
    ['nul \u0000', 'the entry holds characters that cannot be stored'],
  ] as const) {
    const scan = { type: 'sast', scanner: { id: name, name } }
    await assert.rejects(importText(project, 'gitlab', { scan, vulnerabilities: [] }), new BadReport(message))
  }
  const type = '\u001B[31m'.repeat(100)
  await assert.rejects(
    importText(project, 'gitlab', { scan: { type, scanner: { id: 'x', name: 'X' } } }),
    (error) => error instanceof BadReport && error.message.startsWith('scan.type "?[31m?'),
  )
})

test('shared parts of a report are bounded, however often they repeat', async () => {
  const project = await world().make.project()
  const scan = { type: 'sast', scanner: { id: 'x', name: 'X' }, more: 'x'.repeat(1024 * 1024) }
  const part = `"scan": ${JSON.stringify(scan)}`
  const text = `{${Array.from({ length: 33 }, () => part).join()}}`
  await assert.rejects(
    importBytes(project, Buffer.from(text)),
    new BadReport('what all entries share is larger than 33554432 bytes'),
  )
  const large = `{"scan": {"x": "${'x'.repeat(33 * 1024 * 1024)}"}}`
  await assert.rejects(
    importBytes(project, Buffer.from(large)),
    new BadReport('scan is larger than 33554432 bytes'),
  )
})
