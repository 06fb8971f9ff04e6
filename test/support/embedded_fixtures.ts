import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { TestContext } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { Client } from 'pg'
import { startEmbedded, type Embedded } from '../../src/db/embedded/embedded.ts'

export const isRoot = process.getuid?.() === 0
export const isLinux = process.platform === 'linux'

const closers = new WeakMap<TestContext, (() => unknown)[]>()

/** Like `t.after`, but last registered, first run: a server is stopped before its directory goes. */
function after(t: TestContext, close: () => unknown): void {
  const list = closers.get(t) ?? []
  if (list.length === 0) {
    closers.set(t, list)
    t.after(async () => {
      for (const close of list.toReversed()) await close()
    })
  }
  list.push(close)
}

/** A directory of the test's own, removed after it; everybody may walk through it. */
export function makeDirectory(t: TestContext): string {
  const directory = mkdtempSync(join(tmpdir(), 'guildhall-test-'))
  chmodSync(directory, 0o755)
  after(t, () => rmSync(directory, { recursive: true, force: true, maxRetries: 20, retryDelay: 100 }))
  return directory
}

/** Starts a server that is stopped after the test at the latest. */
export async function start(t: TestContext, dataDir: string, binDir?: string): Promise<Embedded> {
  const server = await startEmbedded({ dataDir, ...(binDir === undefined ? {} : { binDir }) })
  after(t, () => server.stop())
  return server
}

/** The rows of one statement on a connection of its own. */
export async function query(connection: Embedded['connection'], text: string): Promise<unknown[]> {
  const client = new Client(connection)
  client.on('error', () => {})
  await client.connect()
  try {
    return (await client.query<Record<string, unknown>>(text)).rows
  } finally {
    await client.end()
  }
}

/** Polls until the condition holds, at most 10 s. */
export async function until(what: string, condition: () => boolean): Promise<void> {
  const end = performance.now() + 10_000
  while (!condition()) {
    if (performance.now() > end) throw new Error(`Waited too long: ${what}`)
    await sleep(5)
  }
}

/** The state letter of a process, of which `Z` is a zombie, or undefined when there is none. */
export function processState(pid: number): string | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
    return stat.slice(stat.lastIndexOf(')') + 2).split(' ')[0]
  } catch {
    return undefined
  }
}

export function isAlive(pid: number): boolean {
  if (isLinux) return ![undefined, 'Z'].includes(processState(pid))
  try {
    return process.kill(pid, 0)
  } catch {
    return false
  }
}

/** The postmaster's process, from its own file. */
export function serverPid(dataDir: string): number {
  return Number.parseInt(readFileSync(join(dataDir, 'postgres', 'postmaster.pid'), 'utf8'), 10)
}

/** The owner of the cluster, in the shape that spawn takes; undefined for the current user. */
export function clusterOwner(dataDir: string): { uid: number; gid: number } | object {
  const { uid, gid } = statSync(join(dataDir, 'postgres'))
  return isRoot ? { uid, gid } : {}
}

export function unfinished(dataDir: string): string[] {
  return existsSync(dataDir) ? readdirSync(dataDir).filter((name) => name.startsWith('postgres.new-')) : []
}

/** Kills a child as hard as can be, and waits until it is gone. */
export async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return
  const gone = once(child, 'exit', { signal: AbortSignal.timeout(5000) })
  child.kill('SIGKILL')
  await gone
}

/** A process of its own group that runs `body` with `startEmbedded`, `Client` and `dataDir` at hand. */
export function runChild(
  t: TestContext,
  dataDir: string,
  body: string,
  wrapper: string[] = [],
): ChildProcess {
  const program = `
    import { startEmbedded } from ${JSON.stringify(new URL('../../src/db/embedded/embedded.ts', import.meta.url).href)}
    import { Client } from ${JSON.stringify(import.meta.resolve('pg'))}
    const dataDir = ${JSON.stringify(dataDir)}
    ${body}`
  const node = [
    process.execPath,
    '--import',
    import.meta.resolve('tsx'),
    '--input-type=module',
    '-e',
    program,
  ]
  const [file = process.execPath, ...args] = [...wrapper, ...node]
  const child = spawn(file, args, { detached: true, stdio: ['ignore', 'pipe', 'pipe'] })
  after(t, () => end(child))
  return child
}

/** A child that starts the server, stores a row durably and then waits for its end. */
export async function runHolder(
  t: TestContext,
  dataDir: string,
  more = '',
): Promise<ChildProcess & { pid: number }> {
  const child = runChild(
    t,
    dataDir,
    `const server = await startEmbedded({ dataDir })
     const client = new Client(server.connection)
     await client.connect()
     await client.query('create table kept (word text)')
     await client.query("insert into kept values ('acknowledged')")
     ${more}
     console.log('holding')`,
  )
  const said = await firstOutput(child)
  if (child.pid === undefined || !said.includes('holding')) throw new Error(`The child said: ${said}`)
  return Object.assign(child, { pid: child.pid })
}

/** A child's first output on either stream, or all of it when it ends; at most 20 s. */
export async function firstOutput(child: ChildProcess): Promise<string> {
  const signal = AbortSignal.timeout(20_000)
  const { stdout, stderr } = child
  if (!stdout || !stderr) return ''
  const first = await Promise.race([once(stdout, 'data', { signal }), once(stderr, 'data', { signal })])
  return first.map(String).join('')
}
