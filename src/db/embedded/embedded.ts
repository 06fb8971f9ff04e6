import { readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { asAccount, chooseAccount, enter } from './account.ts'
import { findBinaries } from './binaries.ts'
import { databaseName, prepareCluster, userName, type Setting } from './cluster.ts'
import { disarmLockFiles, stopSurvivors } from './leftovers.ts'
import { lockDataDir } from './lock.ts'
import { openLog } from './log.ts'
import { supervise, type Command, type Ending, type Supervised } from './process.ts'
import { openSocketDirectory, port } from './socket.ts'

/** A running embedded database server. */
export interface Embedded {
  /** How to connect: the directory of the unix socket, for pg's `host`. */
  readonly connection: {
    readonly host: string
    readonly port: number
    readonly user: string
    readonly database: string
  }
  readonly version: string
  /** Fast shutdown; resolves when the server has gone. Safe to call twice. */
  stop(): Promise<void>
  /** Resolves when the server process ends by itself (crash), never rejects. */
  readonly exited: Promise<void>
}

/** Recovery after a power cut on a slow disk may take minutes; a start that fails ends long before. */
const startLimit = 300_000
const fastShutdownLimit = 15_000
const immediateShutdownLimit = 5_000

/**
 * Recovery after a crash first syncs the data: file by file by default, which takes seconds for thousands of files. One
 * call for the whole file system takes half a second, and only Linux has it.
 */
const crashRecovery = process.platform === 'linux' ? { recovery_init_sync_method: 'syncfs' } : {}

function serverCommand({ account, binaries, connections }: Setting, cluster: string): Command {
  const settings = {
    listen_addresses: '',
    port: String(port),
    // Relative to the cluster: as private as the data, and never too long.
    unix_socket_directories: '.',
    unix_socket_permissions: '0700',
    fsync: 'on',
    full_page_writes: 'on',
    synchronous_commit: 'on',
    shared_buffers: '128MB',
    max_connections: String(connections),
    max_wal_size: '512MB',
    jit: 'off',
    // Hot pages are cached: the planner must not overestimate index scans.
    random_page_cost: '1.1',
    timezone: 'UTC',
    log_timezone: 'UTC',
    log_destination: 'stderr',
    logging_collector: 'off',
    // Errors of statements go to the client, which knows what may be written down; their details hold people's data.
    log_min_messages: 'log',
    log_min_error_statement: 'panic',
    log_checkpoints: 'off',
    ...crashRecovery,
  }
  const flags = Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`])
  return asAccount(account, [binaries.postgres, '-D', cluster, ...flags])
}

/** The last line of the server's own status file, which says `ready` when it takes connections. */
function isReady(cluster: string, pid: number | undefined): boolean {
  try {
    const lines = readFileSync(join(cluster, 'postmaster.pid'), 'utf8').split('\n')
    return Number(lines[0]) === pid && lines[7]?.trim() === 'ready'
  } catch {
    return false
  }
}

async function endedWithin(server: Supervised, limit: number): Promise<boolean> {
  const stopped = new AbortController()
  const late = sleep(limit, false, { signal: stopped.signal }).catch(() => false)
  const ended = await Promise.race([server.ended.then(() => true), late])
  stopped.abort()
  return ended
}

async function shutDown(server: Supervised): Promise<void> {
  server.signal('SIGINT')
  if (await endedWithin(server, fastShutdownLimit)) return
  server.signal('SIGQUIT')
  if (await endedWithin(server, immediateShutdownLimit)) return
  server.signal('SIGKILL')
  await endedWithin(server, immediateShutdownLimit)
}

function startFailure(setting: Setting, end: Ending | undefined): Error {
  const how = end
    ? (end.failure?.message ?? `it ended with ${end.signal ?? `code ${String(end.code)}`}`)
    : 'it took too long'
  return new Error(
    `The embedded database in ${setting.cluster} did not start: ${how}. Its log ends with:\n${setting.serverLog.tail()}`,
  )
}

async function startServer(setting: Setting): Promise<Supervised> {
  const { account, cluster, serverLog } = setting
  const server = enter(cluster, account, ({ argument, ...way }) =>
    supervise(serverCommand(setting, argument), { ids: account.ids, output: serverLog.fd, ...way }),
  )
  let end: Ending | undefined
  void server.ended.then((ending) => (end = ending))
  const began = performance.now()
  while (!isReady(cluster, server.pid)) {
    const waited = performance.now() - began
    if (end !== undefined || waited > startLimit) {
      await shutDown(server)
      throw startFailure(setting, end)
    }
    await sleep(waited < 1000 ? 2 : 50)
  }
  return server
}

interface Options {
  readonly dataDir: string
  readonly binDir?: string
  /** The most connections at a time, 50 unless told. */
  readonly connections?: number
  readonly log?: (line: string) => void
}

/** Opened parts, closed in reverse when the start fails or the server has gone. */
type Closers = (() => void)[]

function closeAll(closers: Closers): void {
  for (const close of closers.splice(0).toReversed()) close()
}

async function open(options: Options, closers: Closers) {
  const dataDir = resolve(options.dataDir)
  const cluster = join(dataDir, 'postgres')
  closers.push(await lockDataDir(dataDir))
  const log = options.log ?? (() => {})
  const account = await chooseAccount(dataDir, cluster)
  const binaries = await findBinaries(dataDir, account, options.binDir)
  const serverLog = openLog(join(dataDir, 'postgres.log'))
  closers.push(() => serverLog.close())
  const { connections = 50 } = options
  const setting: Setting = { dataDir, cluster, account, binaries, serverLog, connections, log }
  await stopSurvivors(cluster, log)
  await prepareCluster(setting)
  disarmLockFiles(cluster)
  const socket = openSocketDirectory(cluster)
  closers.push(() => socket.remove())
  return { server: await startServer(setting), host: socket.path, version: binaries.version }
}

/**
 * Starts the embedded PostgreSQL on the cluster in `<dataDir>/postgres`, creating it first when there is none,
 * and resolves when it takes connections. It dies with this process, however that dies. Throws, with what to
 * change, when it cannot run here or another Guildhall has the data directory.
 */
export async function startEmbedded(options: Options): Promise<Embedded> {
  const closers: Closers = []
  try {
    const { server, host, version } = await open(options, closers)
    let stopping: Promise<void> | undefined
    const exited = new Promise<void>((resolve) => {
      void server.ended.then(() => (stopping === undefined ? resolve() : undefined))
    })
    const stop = () => (stopping ??= shutDown(server).then(() => closeAll(closers)))
    return { connection: { host, port, user: userName, database: databaseName }, version, stop, exited }
  } catch (error) {
    closeAll(closers)
    throw error
  }
}
