import { randomBytes } from 'node:crypto'
import { closeSync, fsync, openSync, renameSync, write, writeSync } from 'node:fs'
import { mkdir, unlink } from 'node:fs/promises'
import { dirname } from 'node:path'
import { promisify } from 'node:util'

/** True for an error of the file system with one of these codes, such as `ENOENT`. */
export function hasCode(error: unknown, ...codes: readonly string[]): boolean {
  return (
    error instanceof Error && 'code' in error && typeof error.code === 'string' && codes.includes(error.code)
  )
}

interface Sync {
  running: Promise<void>
  next: Promise<void> | undefined
}

/*
 * Steps that only touch the file system's memory run at once: handing one to another thread costs more than doing it,
 * and a small commit has dozens. Waits for the disk and long writes are asynchronous.
 */
const smallBytes = 256 * 1024
const writeAside = promisify(write)

const syncs = new Map<string, Sync>()

/**
 * Makes the names in a directory durable. Callers who come while it is being done share the next time: what each of
 * them did before the call is durable when its promise resolves. Rejects as the file system does.
 */
export function syncDirectory(directory: string): Promise<void> {
  const current = syncs.get(directory)
  if (current === undefined) return startSync(directory)
  current.next ??= current.running.catch(() => undefined).then(() => startSync(directory))
  return current.next
}

function startSync(directory: string): Promise<void> {
  const running = syncNow(directory)
  const sync: Sync = { running, next: undefined }
  syncs.set(directory, sync)
  const settle = (): void => {
    if (sync.next === undefined && syncs.get(directory) === sync) syncs.delete(directory)
  }
  running.then(settle, settle)
  return running
}

async function syncNow(directory: string): Promise<void> {
  const file = openSync(directory, 'r')
  try {
    await syncFile(file)
  } finally {
    closeSync(file)
  }
}

/** Makes `directory` and all that is missing above it, each name durable. Rejects as the file system does. */
export async function makeDirectory(directory: string): Promise<void> {
  const first = await mkdir(directory, { recursive: true, mode: 0o750 })
  if (first === undefined) return
  // `first` is the topmost that was missing: its name, and that of everything below it, is new.
  for (let at = directory; at.length >= first.length; at = dirname(at)) await syncDirectory(dirname(at))
}

/** Makes the bytes of an open file durable. */
export const syncFile: (file: number) => Promise<void> = promisify(fsync)

/** Writes a new file and makes its bytes durable, though not yet its name. Throws `EEXIST` when it is there already. */
export async function writeNew(file: string, bytes: string | Buffer, mode = 0o640): Promise<void> {
  const opened = openSync(file, 'wx', mode)
  try {
    await writeAll(opened, bytes)
    await syncFile(opened)
  } catch (error) {
    await unlink(file).catch(() => undefined)
    throw error
  } finally {
    closeSync(opened)
  }
}

/** Gives a file its name; what had that name is replaced. When it cannot be, the file is removed. */
export async function placeFile(from: string, to: string): Promise<void> {
  try {
    renameSync(from, to)
  } catch (error) {
    await unlink(from).catch(() => undefined)
    throw error
  }
}

/** Writes all of `bytes` to an open file. */
export async function writeAll(file: number, bytes: string | Buffer): Promise<void> {
  const whole = typeof bytes === 'string' ? Buffer.from(bytes) : bytes
  for (let at = 0; at < whole.length;) {
    const rest = whole.length - at
    at +=
      rest <= smallBytes
        ? writeSync(file, whole, at)
        : (await writeAside(file, whole, at, rest, null)).bytesWritten
  }
}

const instance = randomBytes(8).toString('hex')
let lastTemporary = 0

/** A name like `tmp_obj_0123456789abcdef1`, never used twice: git's own prefixes, so that git's clean-up knows them too. */
export function temporaryName(prefix: string): string {
  lastTemporary += 1
  return `${prefix}_${instance}${lastTemporary.toString(36)}`
}

/** Pending writes to the disk, by repository: a ref moves only when all objects it may lead to are durable. */
export class PendingSyncs {
  readonly #pending = new Map<string, Set<Promise<void>>>()

  /** Notes a sync that has begun. A failed one stays, so that no ref of the repository moves after it. */
  add(gitDirectory: string, durable: Promise<void>): void {
    const pending = this.#pending.get(gitDirectory) ?? new Set()
    this.#pending.set(gitDirectory, pending.add(durable))
    void this.#follow(gitDirectory, durable)
  }

  /** Waits for what was noted so far. Rejects as the file system does. */
  async settle(gitDirectory: string): Promise<void> {
    const pending = this.#pending.get(gitDirectory)
    if (pending !== undefined) await Promise.all(pending)
  }

  async #follow(gitDirectory: string, durable: Promise<void>): Promise<void> {
    try {
      await durable
    } catch {
      return
    }
    const pending = this.#pending.get(gitDirectory)
    pending?.delete(durable)
    if (pending?.size === 0) this.#pending.delete(gitDirectory)
  }
}
