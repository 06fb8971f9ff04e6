// Exports many vulnerabilities of one project and prints memory growth and speed beside COPY of the same columns, unescaped:
// `nice node --import tsx bench/exports.ts`; `EXPORTED=1000000` for as many. The job runs in this process, as in a server.
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pino } from 'pino'
import { readConfig } from '../src/config.ts'
import { openInstance } from '../src/open.ts'
import { createExport, exportVulnerabilities } from '../src/vulnerabilities/exporting.ts'
import { createMakers } from '../test/support/makers.ts'

const COUNT = Number(process.env['EXPORTED'] ?? 100_000)

const dataDir = await mkdtemp(join(tmpdir(), 'guildhall-exports-'))
const config = readConfig({ PATH: process.env['PATH'], GUILDHALL_DATA_DIR: dataDir })
const opened = await openInstance(config, { log: pino({ level: 'warn' }) })
const { instance, client } = opened
const make = createMakers(instance)
const user = await make.user()
const project = await make.project()
await make.member(user, 'developer', { project })
await client.pool.query(
  `insert into vulnerabilities (project_id, report_type, scanner, scanner_name, fingerprint, name, description, severity,
                                identifiers, location, cvss_vectors)
   select $1, 'sast', 'made', 'Made', sha256(n::text::bytea), 'Finding ' || n, repeat('Some words. ', 20), 'high',
          jsonb_build_array(jsonb_build_object('type', 'cve', 'name', 'CVE-2026-' || n, 'value', 'CVE-2026-' || n),
                            jsonb_build_object('type', 'cwe', 'name', 'CWE-79', 'value', '79')),
          jsonb_build_object('file', 'src/file_' || n || '.ts', 'start_line', n), array['CVSS:3.1/AV:N/AC:L']
     from generate_series(1, $2::int) n`,
  [project.id, COUNT],
)
await client.pool.query('vacuum analyze vulnerabilities')

const created = await client.transaction((tx) =>
  createExport(tx, { author_id: user.id, project_id: project.id }),
)
global.gc?.()
const before = process.memoryUsage().rss
let peak = before
const watch = setInterval(() => (peak = Math.max(peak, process.memoryUsage().rss)), 20)
const began = performance.now()
await exportVulnerabilities.run(instance, { id: created.id })
const exporting = (performance.now() - began) / 1000
clearInterval(watch)

const { rows } = await client.pool.query<{ status: string; size: number; row_count: number }>(
  'select status, size, row_count from vulnerability_exports where id = $1',
  [created.id],
)
const query = `
  select case when n.kind = 'group' then n.name end, p.name, v.report_type, v.scanner_name, v.state, v.name, v.description,
         v.severity, v.identifiers, to_char(v.created_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'), v.location,
         v.gone_at is not null, p.full_path, array_to_string(v.cvss_vectors, '; '), v.dismissal_reason,
         (select string_agg(t.comment, '; ' order by t.id) from vulnerability_transitions t
           where t.vulnerability_id = v.id and t.comment <> '')
    from vulnerabilities v join projects p on p.id = v.project_id join namespaces n on n.id = p.namespace_id
   where v.project_id = ${project.id} order by v.id`
const copying = performance.now()
await client.pool.query(`copy (${query}) to stdout csv header`)
const copied = (performance.now() - copying) / 1000

const row = rows[0]
process.stdout.write(
  `${row?.status} ${row?.row_count} rows, ${((row?.size ?? 0) / 1e6).toFixed(1)} MB in ${exporting.toFixed(2)} s; ` +
    `COPY ${copied.toFixed(2)} s; ratio ${(copied / exporting).toFixed(2)}; ` +
    `memory grew by ${((peak - before) / 1e6).toFixed(1)} MB\n`,
)
await opened.close()
await rm(dataDir, { recursive: true, force: true })
