import { createHash, randomBytes } from 'node:crypto'
import { readFileSync, readlinkSync } from 'node:fs'
import { mkdir, readdir, rm, stat, utimes } from 'node:fs/promises'
import { hostname } from 'node:os'
import { join } from 'node:path'

const parent = '.rooms'
const beatMs = 60_000
/** A folder of another machine that has not been touched for so long is nobody's. */
const abandonedMs = 3_600_000

/** A folder for what one open room needs only while it lasts, on the same file system as its repositories. */
export class RoomFolder {
  readonly #root: string
  readonly #name = `${machine()}.${process.pid}.${startOf(process.pid) ?? '0'}.${randomBytes(4).toString('hex')}`
  #made: Promise<string> | undefined
  #beat: NodeJS.Timeout | undefined

  constructor(root: string) {
    this.#root = root
  }

  /** A new folder inside, with this name. */
  async make(name: string): Promise<string> {
    const folder = join(await (this.#made ??= this.#open()), name)
    await mkdir(folder, { recursive: true, mode: 0o700 })
    return folder
  }

  /** Makes the folder, so that others see that this room is there. */
  async announce(): Promise<void> {
    await (this.#made ??= this.#open())
  }

  /** True when no other room of any process or machine has the same root. */
  async isAlone(): Promise<boolean> {
    for (const name of await this.#others()) {
      if (!(await isDead(name, join(this.#root, parent, name)))) return false
    }
    return true
  }

  /** Removes the folders of rooms whose processes are dead, and returns how many there were. */
  async removeDead(): Promise<number> {
    let removed = 0
    for (const name of await this.#others()) {
      const folder = join(this.#root, parent, name)
      if (!(await isDead(name, folder))) continue
      await rm(folder, { recursive: true, force: true, maxRetries: 3 })
      removed += 1
    }
    return removed
  }

  /** Removes it with all it holds. */
  async close(): Promise<void> {
    clearInterval(this.#beat)
    if (this.#made !== undefined) await rm(await this.#made, { recursive: true, force: true, maxRetries: 3 })
  }

  async #others(): Promise<string[]> {
    const names = await readdir(join(this.#root, parent)).catch(() => [])
    return names.filter((name) => name !== this.#name)
  }

  async #open(): Promise<string> {
    const folder = join(this.#root, parent, this.#name)
    await mkdir(folder, { recursive: true, mode: 0o700 })
    this.#beat = setInterval(() => {
      const now = new Date()
      utimes(folder, now, now).catch(() => undefined)
    }, beatMs)
    this.#beat.unref()
    return folder
  }
}

async function isDead(name: string, folder: string): Promise<boolean> {
  const [where, pid = '', start] = name.split('.')
  if (where === machine()) return !isAlive(Number(pid), start)
  const touched = await stat(folder).then(
    ({ mtimeMs }) => mtimeMs,
    () => Date.now(),
  )
  return Date.now() - touched > abandonedMs
}

/** True while the process that started at `start` under this id runs; an id alone may have passed to another. */
function isAlive(pid: number, start: string | undefined): boolean {
  if (!Number.isInteger(pid) || pid <= 0) return false
  try {
    process.kill(pid, 0)
  } catch (error) {
    return error instanceof Error && 'code' in error && error.code === 'EPERM'
  }
  const now = startOf(pid)
  return now === undefined || start === undefined || start === '0' || now === start
}

/** Where a process id means this process: a machine, and on it a container. */
function machine(): string {
  let space = ''
  try {
    space = readlinkSync('/proc/self/ns/pid')
  } catch {
    // Only Linux has them.
  }
  return createHash('sha256').update(`${hostname()}\0${space}`).digest('hex').slice(0, 12)
}

/** When a process started, in the kernel's ticks; undefined where the kernel does not tell. */
function startOf(pid: number): string | undefined {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, 'latin1')
    // The second field is the program's name in brackets and may hold anything.
    return text.slice(text.lastIndexOf(')') + 2).split(' ')[19]
  } catch {
    return undefined
  }
}
