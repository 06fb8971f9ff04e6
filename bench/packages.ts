import { spawnSync } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { readdirSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pino } from 'pino'
import { readConfig } from '../src/config.ts'
import { openInstance } from '../src/open.ts'
import { createMakers } from '../test/support/makers.ts'
import { median } from './report.ts'
import { startServer, type Running } from './server.ts'

// A large file through the generic registry beside `cat` of it, with the server's memory, and lists of many packages.

const MEGABYTES = 200
const LISTED = 10_000
const MB = 1024 * 1024

interface Filled {
  readonly token: string
  readonly project: number
}

async function fill(env: Readonly<Record<string, string>>): Promise<Filled> {
  const opened = await openInstance(readConfig(env), { log: pino({ level: 'warn' }), join: true })
  try {
    const make = createMakers(opened.instance)
    const project = await make.project()
    const { token } = await make.memberOf('developer', { project })
    await opened.client.pool.query(
      `insert into packages (project_id, package_type, name, canonical_name, version, created_at)
       select $1, 'generic', 'tool-' || n % 1000, 'tool-' || n % 1000, '1.' || n, now() - n * interval '1 minute'
         from generate_series(1, $2::int) n`,
      [project.id, LISTED],
    )
    await opened.client.pool.query('vacuum analyze packages')
    return { token, project: project.id }
  } finally {
    await opened.close()
  }
}

/** Runs `work` and answers its milliseconds, and the most megabytes of memory that the server had meanwhile. */
async function watched(server: Running, work: () => Promise<void>): Promise<{ ms: number; peak: number }> {
  let peak = server.memory() ?? 0
  const timer = setInterval(() => (peak = Math.max(peak, server.memory() ?? 0)), 20)
  const began = performance.now()
  await work()
  clearInterval(timer)
  return { ms: performance.now() - began, peak }
}

const shown = (value: number): string => value.toFixed(value < 100 ? 1 : 0)

async function measure(
  server: Running,
  blobs: string,
  { token, project }: Filled,
  rounds: number,
): Promise<string[]> {
  const headers = { 'private-token': token }
  const packages = `${server.url}/api/v4/projects/${project}/packages`
  const get = async (url: string): Promise<void> => {
    const answer = await fetch(url, { headers })
    for await (const chunk of answer.body ?? []) void chunk
    if (!answer.ok) throw new Error(`${url}: ${answer.status}`)
  }
  await get(packages)
  const before = server.memory() ?? 0
  const piece = randomBytes(MB)
  const body = ReadableStream.from(
    (function* () {
      for (let sent = 0; sent < MEGABYTES; sent += 1) yield piece
    })(),
  )
  const url = `${packages}/generic/large/1/file`
  const type = { 'content-type': 'application/octet-stream' }
  const up = await watched(server, async () => {
    const init = { method: 'PUT', headers: { ...headers, ...type }, body, duplex: 'half' } as const
    const answer = await fetch(url, init)
    if (answer.status !== 201) throw new Error(`the upload was answered with ${answer.status}`)
  })
  const downs: { ms: number; peak: number }[] = []
  const cats: number[] = []
  const [stored = ''] = readdirSync(blobs, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
  for (let round = 0; round < rounds; round += 1) {
    downs.push(await watched(server, () => get(url)))
    const began = performance.now()
    spawnSync('sh', ['-c', `cat '${stored}' | cat > /dev/null`])
    cats.push(performance.now() - began)
  }
  return [
    `| upload of ${MEGABYTES} MB | ${shown(up.ms)} ms | | ${shown(up.peak - before)} MB |`,
    `| download of ${MEGABYTES} MB | ${shown(median(downs.map(({ ms }) => ms)))} ms | ${shown(median(cats))} ms | ${shown(Math.max(...downs.map(({ peak }) => peak)) - before)} MB |`,
    ...(await measureLists(server, packages, get)),
  ]
}

async function measureLists(
  server: Running,
  packages: string,
  get: (url: string) => Promise<void>,
): Promise<string[]> {
  const rows: string[] = []
  for (const query of [
    'per_page=100',
    'per_page=100&page=100',
    'order_by=name&per_page=100',
    'package_name=tool-77',
  ]) {
    const times: number[] = []
    for (let round = 0; round < 20; round += 1)
      times.push((await watched(server, () => get(`${packages}?${query}`))).ms)
    rows.push(`| ${LISTED} packages, \`${query}\` | ${shown(median(times))} ms | | |`)
  }
  return rows
}

/** Measures packages on a fresh data directory and prints a table. */
export async function benchPackages(rounds: number, note: (text: string) => void): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), 'guildhall-bench-packages-'))
  const dataDir = join(folder, 'data')
  const env = {
    PATH: process.env['PATH'] ?? '',
    GUILDHALL_DATA_DIR: dataDir,
    GUILDHALL_PORT: '0',
    LOG_LEVEL: 'warn',
  }
  const server = await startServer(env)
  try {
    note(`Filling in ${LISTED} packages …`)
    const rows = await measure(server, join(dataDir, 'blobs'), await fill(env), rounds)
    const head = ['| Packages | Median | `cat` | Memory above idle |', '| --- | --- | --- | --- |']
    process.stdout.write(`${[...head, ...rows].join('\n')}\n`)
  } finally {
    await server.stop()
    await rm(folder, { recursive: true, force: true })
  }
}
