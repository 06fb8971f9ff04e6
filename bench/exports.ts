import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createWriteStream, readFileSync } from 'node:fs'
import { mkdtemp, rm, stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { setTimeout as sleep } from 'node:timers/promises'
import { pino } from 'pino'
import { readConfig } from '../src/config.ts'
import type { Client } from '../src/db/client.ts'
import { openInstance } from '../src/open.ts'
import { exportedRows } from '../src/vulnerabilities/csv.ts'
import { createMakers } from '../test/support/makers.ts'
import { median } from './report.ts'
import { startServer, type Running } from './server.ts'

// Exports many vulnerabilities from a running server: its speed beside COPY of the same query, its memory, and the requests
// of others meanwhile; then imports a large report. `EXPORTED` rows and `IMPORTED` megabytes instead of the usual ones.

const COUNT = Number(process.env['EXPORTED'] ?? 1_000_000)
const MEGABYTES = Number(process.env['IMPORTED'] ?? 500)
/** Requests of others in a second, and seconds of them without an export. */
const RATE = 50
const QUIET_SECONDS = 20
const ROOT = fileURLToPath(new URL('../', import.meta.url))

interface Filled {
  readonly token: string
  readonly project: number
  readonly path: string
}

async function fill(env: Readonly<Record<string, string>>): Promise<Filled> {
  return inside(env, async (client, make) => {
    const project = await make.project()
    const { token } = await make.memberOf('developer', { project })
    for (let from = 0; from < COUNT; from += 100_000)
      await client.pool.query(
        `insert into vulnerabilities (project_id, report_type, scanner, scanner_name, fingerprint, name, description,
                                      severity, identifiers, location, cvss_vectors)
         select $1, 'sast', 'made', 'Made', sha256(n::text::bytea), 'Finding ' || n, repeat('Some words. ', 20), 'high',
                jsonb_build_array(jsonb_build_object('type', 'cve', 'name', 'CVE-2026-' || n, 'value', 'CVE-2026-' || n),
                                  jsonb_build_object('type', 'cwe', 'name', 'CWE-79', 'value', '79')),
                jsonb_build_object('file', 'src/file_' || n || '.ts', 'start_line', n), array['CVSS:3.1/AV:N/AC:L']
           from generate_series($2::int + 1, least($2::int + 100000, $3::int)) n`,
        [project.id, from, COUNT],
      )
    await client.pool.query('vacuum analyze vulnerabilities')
    return { token, project: project.id, path: project.full_path }
  })
}

/** Works on the instance beside the server that runs it. */
async function inside<Result>(
  env: Readonly<Record<string, string>>,
  work: (client: Client, make: ReturnType<typeof createMakers>) => Promise<Result>,
): Promise<Result> {
  const opened = await openInstance(readConfig(env), { log: pino({ level: 'warn' }), join: true })
  try {
    return await work(opened.client, createMakers(opened.instance))
  } finally {
    await opened.close()
  }
}

/** Seconds that COPY takes for the rows of an export, read and dropped. */
async function copySeconds(client: Client, project: number): Promise<number> {
  const began = performance.now()
  for await (const chunk of client.copy(exportedRows([project]))) void chunk
  return (performance.now() - began) / 1000
}

interface Exported {
  readonly seconds: number
  readonly bytes: number
  /** Megabytes by which the memory of the server grew. */
  readonly grew: number
}

async function exportOnce(server: Running, { token, project }: Filled): Promise<Exported> {
  const headers = { 'private-token': token }
  const before = server.memory() ?? 0
  let peak = before
  const watch = setInterval(() => (peak = Math.max(peak, server.memory() ?? 0)), 20)
  const url = `${server.url}/api/v4/security/projects/${project}/vulnerability_exports`
  const made = (await (await fetch(url, { method: 'POST', headers })).json()) as {
    readonly _links: { readonly self: string }
  }
  const { _links: links } = made
  const self = server.url + new URL(links.self).pathname
  for (;;) {
    const answer = await fetch(self, { headers })
    const body = (await answer.json()) as { status: string; started_at: string; finished_at: string }
    if (answer.status === 202) {
      await sleep(200)
      continue
    }
    if (body.status !== 'finished') throw new Error(`the export is ${body.status}`)
    clearInterval(watch)
    const file = await fetch(`${self}/download`, { headers })
    const bytes = Number(file.headers.get('content-length'))
    await file.body?.cancel()
    return {
      seconds: (Date.parse(body.finished_at) - Date.parse(body.started_at)) / 1000,
      bytes,
      grew: peak - before,
    }
  }
}

/** Asks at a steady rate, however long answers take, until stopped; the milliseconds of all answers. */
function askSteadily(
  server: Running,
  { token, project }: Filled,
): { readonly stop: () => Promise<number[]> } {
  const times: number[] = []
  const asked: Promise<void>[] = []
  const clock = setInterval(() => {
    const began = performance.now()
    asked.push(
      fetch(`${server.url}/api/v4/projects/${project}`, { headers: { 'private-token': token } })
        .then((answer) => answer.arrayBuffer())
        .then(() => void times.push(performance.now() - began)),
    )
  }, 1000 / RATE)
  return {
    stop: async () => {
      clearInterval(clock)
      await Promise.all(asked)
      return times.sort((a, b) => a - b)
    },
  }
}
const p99 = (times: readonly number[]): number => times[Math.floor((times.length - 1) * 0.99)] ?? 0

/** A report in GitLab's format of about so many bytes. */
async function writeReport(file: string, bytes: number): Promise<void> {
  const to = createWriteStream(file)
  to.write(
    '{"version": "15.0.0", "scan": {"type": "sast", "scanner": {"id": "bench", "name": "Bench"}}, "vulnerabilities": [',
  )
  const description = 'A long explanation of this weakness. '.repeat(60)
  for (let n = 0, written = 0; written < bytes; n += 1) {
    const entry = JSON.stringify({
      name: `Finding ${n}`,
      description,
      severity: 'High',
      identifiers: [{ type: 'cwe', name: 'CWE-79', value: '79' }],
      location: { file: `src/file_${n}.ts`, start_line: n },
    })
    written += entry.length + 1
    if (!to.write(`${n === 0 ? '' : ','}${entry}`)) await once(to, 'drain')
  }
  to.end(']}')
  await once(to, 'close')
}

interface Imported {
  readonly megabytes: number
  readonly seconds: number
  /** Megabytes of memory of the command at its highest. */
  readonly peak: number
}

async function importReport(
  env: Readonly<Record<string, string>>,
  path: string,
  file: string,
): Promise<Imported> {
  const args = ['bin/guildhall', 'vulnerability', 'import', '--project', path, '--format', 'gitlab', file]
  const began = performance.now()
  const child = spawn(process.execPath, args, {
    cwd: ROOT,
    env: { ...env },
    stdio: ['ignore', 'ignore', 'inherit'],
  })
  let peak = 0
  const watch = setInterval(() => {
    try {
      const kilobytes = /^VmHWM:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${child.pid}/status`, 'utf8'))?.[1]
      peak = Math.max(peak, Number(kilobytes ?? 0) / 1024)
    } catch {
      // It has ended.
    }
  }, 50)
  const [code] = (await once(child, 'exit')) as [number]
  clearInterval(watch)
  if (code !== 0) throw new Error(`the import ended with ${code}`)
  return { megabytes: (await stat(file)).size / 1e6, seconds: (performance.now() - began) / 1000, peak }
}

const say = (text: string): void => void process.stdout.write(`${text}\n`)
const verdict = (isMet: boolean): string => (isMet ? '' : '  NOT MET')

type Note = (text: string) => void

export async function benchExports(rounds: number, note: Note): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), 'guildhall-exports-'))
  const env = {
    PATH: process.env['PATH'] ?? '',
    GUILDHALL_DATA_DIR: join(folder, 'data'),
    GUILDHALL_PORT: '0',
  }
  const server = await startServer(env)
  try {
    note(`Inserting ${COUNT} vulnerabilities …`)
    const filled = await fill(env)
    const copied: number[] = []
    const exported: Exported[] = []
    for (let run = 0; run < rounds; run += 1) {
      note(`COPY and export, ${run + 1} of ${rounds} …`)
      copied.push(await inside(env, (client) => copySeconds(client, filled.project)))
      exported.push(await exportOnce(server, filled))
    }
    const [copy, ours] = [median(copied), median(exported.map(({ seconds }) => seconds))]
    const grew = Math.max(...exported.map((one) => one.grew))
    say(
      `export of ${COUNT} rows, ${((exported[0]?.bytes ?? 0) / 1e6).toFixed(0)} MB: ${ours.toFixed(1)} s; ` +
        `COPY ${copy.toFixed(1)} s; ratio ${(copy / ours).toFixed(2)} >= 0.5${verdict(copy / ours >= 0.5)}`,
    )
    say(`memory of the server grew by ${grew.toFixed(1)} MB < 50${verdict(grew < 50)}`)

    await benchRequests(server, filled, rounds, note)
    await benchImports(env, { folder, path: filled.path }, note)
  } finally {
    await server.stop()
    await rm(folder, { recursive: true, force: true })
  }
}

async function benchRequests(server: Running, filled: Filled, rounds: number, note: Note): Promise<void> {
  note('Requests without and during exports …')
  const ratios: number[] = []
  for (let run = 0; run < rounds; run += 1) {
    const quiet = askSteadily(server, filled)
    await sleep(QUIET_SECONDS * 1000)
    const without = p99(await quiet.stop())
    const busy = askSteadily(server, filled)
    await exportOnce(server, filled)
    const during = p99(await busy.stop())
    say(`p99 of requests ${without.toFixed(1)} ms, during an export ${during.toFixed(1)} ms`)
    ratios.push(during / without)
  }
  say(`p99 ratio ${median(ratios).toFixed(2)} < 2${verdict(median(ratios) < 2)}`)
}

async function benchImports(
  env: Readonly<Record<string, string>>,
  { folder, path }: { readonly folder: string; readonly path: string },
  note: Note,
): Promise<void> {
  const peaks: number[] = []
  // A tenth is enough for the heap to reach the size that it keeps.
  for (const megabytes of [MEGABYTES / 10, MEGABYTES]) {
    const file = join(folder, 'report.json')
    await writeReport(file, megabytes * 1e6)
    note(`Importing ${megabytes} MB …`)
    const imported = await importReport(env, path, file)
    peaks.push(imported.peak)
    say(
      `import of ${imported.megabytes.toFixed(0)} MB: ${imported.seconds.toFixed(1)} s, ` +
        `memory of the command at most ${imported.peak.toFixed(0)} MB`,
    )
  }
  const [small = 0, large = 0] = peaks
  say(`memory grew by ${(large - small).toFixed(0)} MB < 50${verdict(large - small < 50)}`)
}
