import { openSync } from 'node:fs'
import { readdir, rm, stat, unlink } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { isWorkedIn, workingProcesses, type WorkingProcesses } from '../processes/processes.ts'
import type { RoomFolder } from './room_folder.ts'

/** How many leftovers of dead processes were removed. */
export interface Swept {
  locks: number
  /** Files and directories of writes that never came to an end. */
  temporary: number
  /** Repositories that were never finished. */
  repositories: number
  /** Folders of servers that were killed. */
  rooms: number
}

const hourMs = 3_600_000
const dayMs = 24 * hourMs
/** How old a lock must be: when this process is the only one that writes, beside others, and when nothing is known. */
const lockAges = { alone: 2_000, beside: 60_000, unknown: 600_000 }
const pauseMs = 5
const lockFolders = ['', 'refs', 'objects/info']
const temporaryFile = /^(?:tmp_|\.tmp-|tmp-)/

/**
 * Removes what dead processes left in repositories, and nothing that might be somebody's: a lock or a temporary file
 * goes when it is old and no process on this machine is at work in its repository; where processes cannot be seen, or
 * other servers share the directory, only after a time that no live one takes.
 */
export class Janitor {
  readonly #root: string
  readonly #folder: RoomFolder
  readonly #held = new Set<string>()

  constructor(root: string, folder: RoomFolder) {
    this.#root = root
    this.#folder = folder
  }

  /** Makes a lock file, known as this process's own until `closed`, and returns the open file. Throws `EEXIST` when somebody has it. */
  openLock(lock: string): number {
    if (this.#held.has(lock)) throw Object.assign(new Error('Held by this process'), { code: 'EEXIST' })
    this.#held.add(lock)
    try {
      return openSync(lock, 'wx', 0o640)
    } catch (error) {
      this.#held.delete(lock)
      throw error
    }
  }

  /** To be called once a lock file of this process is gone. */
  closed(lock: string): void {
    this.#held.delete(lock)
  }

  /** Removes a lock file if who made it is certainly dead, and tells whether it did. */
  async removeDeadLock(gitDirectory: string, lock: string): Promise<boolean> {
    const age = await ageOf(lock)
    if (this.#held.has(lock) || age === undefined || age < lockAges.alone) return false
    const processes = await workingProcesses()
    if (!(await this.#isDead(gitDirectory, age, processes))) return false
    // The same file as was judged: a live one in its place would be young.
    const still = await ageOf(lock)
    if (still === undefined || still < age || this.#held.has(lock)) return false
    await unlink(lock).catch(() => undefined)
    return true
  }

  /** Goes through all repositories once, a little at a time. Never throws for one that it cannot read. */
  async sweep(): Promise<Swept> {
    const swept: Swept = { locks: 0, temporary: 0, repositories: 0, rooms: await this.#folder.removeDead() }
    for (const shelf of await names(this.#root)) {
      if (shelf.startsWith('.')) continue
      const parent = join(this.#root, shelf)
      for (const name of await names(parent)) {
        const directory = join(parent, name)
        if (name.startsWith('.new-')) swept.repositories += await this.#sweepUnfinished(directory)
        else if (name.endsWith('.git')) await this.#sweepRepository(directory, swept)
        await sleep(pauseMs)
      }
    }
    return swept
  }

  async #isDead(directory: string, age: number, processes: WorkingProcesses | undefined): Promise<boolean> {
    if (processes === undefined) return age > lockAges.unknown
    if (isWorkedIn(processes, directory)) return false
    return age > lockAges.beside || (await this.#folder.isAlone())
  }

  async #sweepRepository(directory: string, swept: Swept): Promise<void> {
    for (const folder of lockFolders) {
      const recursive = folder === 'refs'
      for (const name of await names(join(directory, folder), recursive)) {
        if (!name.endsWith('.lock')) continue
        if (await this.removeDeadLock(directory, join(directory, folder, name))) swept.locks += 1
      }
    }
    let processes: WorkingProcesses | undefined
    const objects = join(directory, 'objects')
    const inside = (await names(objects)).filter((name) => /^(?:[0-9a-f]{2}|pack|info)$/.test(name))
    for (const folder of [
      directory,
      objects,
      join(objects, 'info/commit-graphs'),
      ...inside.map((name) => join(objects, name)),
    ]) {
      for (const name of await names(folder)) {
        if (!temporaryFile.test(name)) continue
        const path = join(folder, name)
        const age = (await ageOf(path)) ?? 0
        if (age < hourMs) continue
        processes ??= await workingProcesses()
        if (age < dayMs && (processes === undefined || isWorkedIn(processes, directory))) continue
        await rm(path, { recursive: true, force: true }).catch(() => undefined)
        swept.temporary += 1
      }
    }
  }

  async #sweepUnfinished(directory: string): Promise<number> {
    const ages = await Promise.all(
      [directory, join(directory, 'HEAD'), join(directory, 'objects'), join(directory, 'objects/pack')].map(
        ageOf,
      ),
    )
    const youngest = Math.min(...ages.map((age) => age ?? Number.POSITIVE_INFINITY))
    if (youngest < hourMs) return 0
    const processes = await workingProcesses()
    if (youngest < dayMs && (processes === undefined || isWorkedIn(processes, directory))) return 0
    await rm(directory, { recursive: true, force: true }).catch(() => undefined)
    return 1
  }
}

async function names(directory: string, recursive = false): Promise<string[]> {
  try {
    return await readdir(directory, { recursive })
  } catch {
    return []
  }
}

/** Milliseconds since the file was last written; undefined when it is not there. */
async function ageOf(path: string): Promise<number | undefined> {
  try {
    return Date.now() - (await stat(path)).mtimeMs
  } catch {
    return undefined
  }
}
