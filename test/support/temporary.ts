import { spawnSync } from 'node:child_process'
import {
  accessSync,
  chmodSync,
  constants,
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statfsSync,
  writeFileSync,
} from 'node:fs'
import { freemem } from 'node:os'
import { join } from 'node:path'

const MEMORY = '/dev/shm'
const ROOM = 4 * 2 ** 30
const MOUNTS = '/proc/self/mounts'
const LEFTOVER = /^guildhall-run-(\d+) (\S+) tmpfs /

/**
 * Lets all that a run writes stand in memory where there is room for it, until the run is over: each database is some
 * hundreds of files, and to make and remove those on a disk takes longer than most tests. What a test kills are
 * processes, and files outlive these in memory as well as on a disk.
 */
export function writeToMemory(): void {
  unmountLeftovers()
  const folder = openFolder()
  if (folder === undefined) return
  process.env['TMPDIR'] = folder
  process.on('exit', () => rmSync(folder, { recursive: true, force: true }))
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(1))
}

function openFolder(): string | undefined {
  let folder: string | undefined
  try {
    removeLeftovers()
    const { bavail, bsize } = statfsSync(MEMORY)
    if (Math.min(bavail * bsize, freemem()) < ROOM) return undefined
    folder = mkdtempSync(join(MEMORY, `guildhall-run-${process.pid}-`))
    // Open to all like the system's own: the database may run as another user.
    chmodSync(folder, 0o1777)
    const program = join(folder, 'program')
    writeFileSync(program, '', { mode: 0o755 })
    accessSync(program, constants.X_OK)
    return folder
  } catch {
    // There is no such place, or one where no program may run.
    if (folder !== undefined) rmSync(folder, { recursive: true, force: true })
    return undefined
  }
}

/** Mounts a file system of that many megabytes in memory; false where the user may not. */
export const mountSmall = (folder: string, megabytes: number, pid = process.pid): boolean =>
  spawnSync('mount', ['-t', 'tmpfs', '-o', `size=${megabytes}m`, `guildhall-run-${pid}`, folder]).status === 0

export const unmountSmall = (folder: string): boolean => spawnSync('umount', ['-l', folder]).status === 0

/** Unmounts the file systems of killed runs: below them no folder can be removed. */
export function unmountLeftovers(): void {
  const mounts = existsSync(MOUNTS) ? readFileSync(MOUNTS, 'utf8').split('\n') : []
  for (const [, pid, folder = ''] of mounts.flatMap((line) => [LEFTOVER.exec(line) ?? []]).toReversed())
    if (pid !== undefined && !isAlive(Number(pid))) unmountSmall(folder)
}

/** Takes away what runs left that were killed. */
function removeLeftovers(): void {
  for (const name of readdirSync(MEMORY)) {
    const pid = Number(/^guildhall-run-(\d+)-/.exec(name)?.[1] ?? process.pid)
    if (!isAlive(pid)) rmSync(join(MEMORY, name), { recursive: true, force: true })
  }
}

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0)
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM'
  }
}
