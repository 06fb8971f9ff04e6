import {
  closeSync,
  constants,
  existsSync,
  lstatSync,
  openSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeSync,
} from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { run } from './process.ts'

interface Survivor {
  readonly pid: number
  readonly parent: number
}

const servers = new Set(['postgres', 'postmaster', 'initdb'])

/** Name, state and parent of a process, from a line whose second field may itself hold spaces and brackets. */
function describe(pid: string): { name: string; state: string; parent: number } {
  const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
  const [state = '', parent = ''] = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
  return { name: stat.slice(stat.indexOf('(') + 1, stat.lastIndexOf(')')), state, parent: Number(parent) }
}

/**
 * Every process of a server changes into its cluster, so the working directory finds even backends whose
 * postmaster is gone, which no pid file names. An administrator's shell in the same directory is left alone.
 */
function survivorsOnLinux(cluster: string): Survivor[] {
  const here = statSync(cluster)
  return readdirSync('/proc').flatMap((pid) => {
    if (!/^\d+$/.test(pid)) return []
    try {
      const there = statSync(`/proc/${pid}/cwd`)
      if (there.ino !== here.ino || there.dev !== here.dev) return []
      const { name, state, parent } = describe(pid)
      return servers.has(name) && state !== 'Z' ? [{ pid: Number(pid), parent }] : []
    } catch {
      // Gone meanwhile, a zombie (no working directory), or somebody else's and so not on our cluster.
      return []
    }
  })
}

async function survivorsElsewhere(cluster: string): Promise<Survivor[]> {
  const pid = lockedPid(join(cluster, 'postmaster.pid'))
  if (pid === undefined) return []
  const { output } = await run(['ps', '-o', 'stat=,command=', '-p', String(pid)])
  const isServer = !output.startsWith('Z') && output.includes('postgres') && output.includes(cluster)
  return isServer ? [{ pid, parent: 0 }] : []
}

async function survivors(cluster: string): Promise<Survivor[]> {
  if (!existsSync(cluster)) return []
  return process.platform === 'linux' ? survivorsOnLinux(cluster) : survivorsElsewhere(cluster)
}

function signalAll(processes: readonly Survivor[], name: NodeJS.Signals): void {
  for (const { pid } of processes) {
    try {
      process.kill(pid, name)
    } catch {
      // Gone meanwhile; one that we may not signal is found again by the next look.
    }
  }
}

async function gone(cluster: string, limit: number): Promise<boolean> {
  const end = performance.now() + limit
  while ((await survivors(cluster)).length > 0) {
    if (performance.now() > end) return false
    await sleep(10)
  }
  return true
}

/** Milliseconds. A server that recovers from a crash ignores SIGINT, and recovers from SIGQUIT as well. */
const ORDERLY = 1_500
const IMMEDIATE = 15_000

/**
 * Stops what an earlier run left alive in the cluster directory and waits until it is gone: first an orderly shutdown,
 * then an immediate one. Throws when a process outlives both.
 */
export async function stopSurvivors(cluster: string, log: (line: string) => void): Promise<void> {
  const found = await survivors(cluster)
  if (found.length === 0) return
  const pids = new Set(found.map(({ pid }) => pid))
  log(`stopping a database server left by an earlier run (process ${[...pids].join(', ')})`)
  // Only a postmaster shuts down on SIGINT; a backend would cancel a query that the shutdown ends anyway.
  signalAll(
    found.filter(({ parent }) => !pids.has(parent)),
    'SIGINT',
  )
  if (await gone(cluster, ORDERLY)) return
  signalAll(await survivors(cluster), 'SIGQUIT')
  if (await gone(cluster, IMMEDIATE)) return
  const left = (await survivors(cluster)).map(({ pid }) => pid).join(', ')
  throw new Error(`A database server left by an earlier run in ${cluster} does not stop (process ${left}).`)
}

function lockedPid(file: string): number | undefined {
  try {
    // A link could lead us, who may be root, to a file that the server's account may not touch.
    if (!lstatSync(file).isFile()) return undefined
    const pid = Number.parseInt(readFileSync(file, 'utf8'), 10)
    return Number.isSafeInteger(pid) && pid !== 0 ? Math.abs(pid) : undefined
  } catch {
    return undefined
  }
}

/**
 * Makes the lock files of a dead server harmless; call it after `stopSurvivors`. A zombie or a stranger that
 * got the same pid would make PostgreSQL refuse to start. It takes its parent's pid for stale, so that is what
 * we write: unlike deleting the file, this keeps its own check for backends that still share its memory.
 */
export function disarmLockFiles(cluster: string): void {
  for (const name of ['postmaster.pid', '.s.PGSQL.5432.lock']) {
    const file = join(cluster, name)
    const pid = lockedPid(file)
    if (pid === undefined) {
      // Killed between creating and writing it: PostgreSQL would refuse the empty file for ever.
      rmSync(file, { force: true })
      continue
    }
    const [, ...rest] = readFileSync(file, 'utf8').split('\n')
    // In place: the file keeps the owner that the server must be to remove it.
    const fd = openSync(file, constants.O_WRONLY | constants.O_TRUNC | constants.O_NOFOLLOW)
    writeSync(fd, [String(process.pid), ...rest].join('\n'))
    closeSync(fd)
  }
}
