/* The real program as its users start it: `bin/guildhall` in a process, or a process group, of its own. */
import assert from 'node:assert/strict'
import { spawn, spawnSync, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readdirSync, readlinkSync, rmSync } from 'node:fs'
import { createServer, type AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { copyDirectory } from './copy_directory.ts'

const program = fileURLToPath(new URL('../../bin/guildhall', import.meta.url))

export interface Ended {
  readonly code: number | null
  readonly signal: NodeJS.Signals | null
  readonly stdout: string
  readonly stderr: string
}

export interface Started {
  readonly child: ChildProcess
  readonly pid: number
  readonly stdout: () => string
  readonly stderr: () => string
  /** Resolves with what it said once it is over and its output is closed. */
  readonly ended: Promise<Ended>
}

type Env = Readonly<Record<string, string>>

/** A data directory, an environment that names it, and the ways to run the program there. */
export interface Place {
  readonly dataDir: string
  readonly env: Env
  readonly start: (args: readonly string[], env?: Env) => Started
  readonly run: (args: readonly string[], env?: Env) => Promise<Ended>
  /** Runs with `--json`, and returns what it printed; throws when it did not succeed. */
  readonly json: (args: readonly string[], env?: Env) => Promise<Record<string, unknown>>
  readonly serve: (env?: Env, args?: readonly string[]) => Promise<Running>
  /** Ends what still runs here, and removes the directory. */
  readonly clear: () => Promise<void>
}

export interface Running extends Started {
  readonly url: string
  readonly api: string
  /** The output of the first start with `--json`. */
  readonly told: Readonly<Record<string, unknown>>
  readonly get: (path: string, headers?: Env) => Promise<Response>
  readonly stop: () => Promise<Ended>
}

export async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  server.close()
  await once(server, 'close')
  return port
}

/** How a run tells its test files of a data directory whose database is up to date. */
export const READY_VARIABLE = 'GUILDHALL_TEST_READY'

/** Makes such a directory, as an administrator would. */
export function makeReady(): string {
  const dataDir = join(mkdtempSync(join(tmpdir(), 'guildhall-ready-')), 'data')
  const env = { PATH: process.env['PATH'] ?? '', GUILDHALL_DATA_DIR: dataDir }
  const { status, stderr } = spawnSync(process.execPath, [program, 'migrate'], { env, encoding: 'utf8' })
  if (status !== 0) throw new Error(`there is no database: ${stderr}`)
  return dataDir
}

/** A place that nobody has started yet. */
export const openPlace = (given: Env = {}): Promise<Place> => placeOf(given)

/** A place whose database is there: for tests of what comes after a first start, which takes four times as long. */
export const openReadyPlace = (given: Env = {}): Promise<Place> => placeOf(given, process.env[READY_VARIABLE])

async function placeOf(given: Env, ready?: string): Promise<Place> {
  const dataDir = join(mkdtempSync(join(tmpdir(), 'guildhall-program-')), 'data')
  if (ready !== undefined) copyDirectory(ready, dataDir)
  const port = String(await freePort())
  const env = {
    PATH: process.env['PATH'] ?? '',
    GUILDHALL_DATA_DIR: dataDir,
    GUILDHALL_PORT: port,
    ...given,
  }
  const living = new Set<Started>()
  const start: Place['start'] = (args, more = {}) => {
    const started = launch(args, { ...env, ...more })
    living.add(started)
    void started.ended.then(() => living.delete(started))
    return started
  }
  const run: Place['run'] = (args, more) => start(args, more).ended
  return {
    dataDir,
    env,
    start,
    run,
    json: async (args, more) => {
      const ended = await run([...args, '--json'], more)
      if (ended.code !== 0) throw new Error(`${args.join(' ')}: ${ended.stderr}`)
      return JSON.parse(ended.stdout) as Record<string, unknown>
    },
    serve: (more = {}, args = []) => running(start(['serve', '--json', ...args], more)),
    clear: async () => {
      for (const started of living) killGroup(started.pid)
      await Promise.all([...living].map((started) => started.ended))
      await untilNobodyHolds(dataDir)
      rmSync(join(dataDir, '..'), { recursive: true, force: true, maxRetries: 20, retryDelay: 100 })
    },
  }
}

/** Starts the program in a process group of its own, as a shell does. */
function launch(args: readonly string[], env: Env): Started {
  const child = spawn(process.execPath, [program, ...args], {
    env,
    detached: true,
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let stdout = ''
  let stderr = ''
  child.stdout.setEncoding('utf8').on('data', (text: string) => (stdout += text))
  child.stderr.setEncoding('utf8').on('data', (text: string) => (stderr += text))
  const ended = new Promise<Ended>((resolve) => {
    child.once('close', (code, signal) => resolve({ code, signal, stdout, stderr }))
  })
  return { child, pid: child.pid ?? 0, stdout: () => stdout, stderr: () => stderr, ended }
}

async function running(started: Started): Promise<Running> {
  const over = started.ended.then(({ code, stderr }) => {
    throw new Error(`the server ended with ${code}: ${stderr}`)
  })
  over.catch(() => {})
  await Promise.race([over, until('the server says where it is', () => started.stdout().includes('\n'))])
  const told = JSON.parse(started.stdout()) as Record<string, unknown>
  const url = String(told['url'])
  return {
    ...started,
    told,
    url,
    api: `${url}/api/v4`,
    get: (path, headers = {}) => fetch(url + path, { headers, redirect: 'manual' }),
    stop: () => {
      started.child.kill('SIGTERM')
      return started.ended
    },
  }
}

/** How often a test kills; `TEST_KILLS` asks for more by hand. */
export const killsOf = (usual: number): number => Number(process.env['TEST_KILLS'] ?? usual)

/** Signals one process, which may be gone already. */
function killOne(pid: number, signal: NodeJS.Signals = 'SIGKILL'): void {
  try {
    process.kill(pid, signal)
  } catch {
    // It is gone.
  }
}

/** The same for a started program and all of its process group, as a terminal does. */
export const killGroup = (pid: number, signal?: NodeJS.Signals): void => killOne(-pid, signal)

/** Polls until the condition holds, at most 30 s. */
export async function until(what: string, condition: () => boolean | Promise<boolean>): Promise<void> {
  const end = performance.now() + 30_000
  while (!(await condition())) {
    if (performance.now() > end) throw new Error(`Waited too long: ${what}`)
    await sleep(10)
  }
}

/** The processes of the database inside that work in a data directory: each stands in its cluster. */
export function databaseProcesses(dataDir: string): number[] {
  const cluster = join(dataDir, 'postgres')
  return readdirSync('/proc').flatMap((name) => {
    try {
      return /^\d+$/.test(name) && readlinkSync(`/proc/${name}/cwd`) === cluster ? [Number(name)] : []
    } catch {
      return []
    }
  })
}

/** Ends the program at once with all it started; on request its database too, which then has to recover. */
export async function killServer(
  { dataDir }: Place,
  server: Running,
  { withDatabase = false }: { readonly withDatabase?: boolean } = {},
): Promise<void> {
  const database = withDatabase ? databaseProcesses(dataDir) : []
  killGroup(server.pid)
  for (const pid of database) killOne(pid)
  const { signal, stderr } = await server.ended
  assert.equal(signal, 'SIGKILL', stderr)
}

const untilNobodyHolds = (dataDir: string): Promise<void> =>
  until('no database works in the data directory', () => databaseProcesses(dataDir).length === 0)
