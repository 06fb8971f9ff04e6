import { randomBytes } from 'node:crypto'
import { mkdir, open, unlink } from 'node:fs/promises'
import { dirname } from 'node:path'

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
  const handle = await open(directory, 'r')
  try {
    await handle.sync()
  } finally {
    await handle.close()
  }
}

/** Makes `directory` and all that is missing above it, each name durable. Rejects as the file system does. */
export async function makeDirectory(directory: string): Promise<void> {
  const first = await mkdir(directory, { recursive: true, mode: 0o750 })
  if (first === undefined) return
  // `first` is the topmost that was missing: its name, and that of everything below it, is new.
  for (let at = directory; at.length >= first.length; at = dirname(at)) await syncDirectory(dirname(at))
}

/** Writes a new file and makes its bytes durable, though not yet its name. Rejects `EEXIST` when it is there already. */
export async function writeNew(file: string, bytes: string | Buffer, mode = 0o640): Promise<void> {
  const handle = await open(file, 'wx', mode)
  try {
    await handle.writeFile(bytes)
    await handle.sync()
  } catch (error) {
    await unlink(file).catch(() => undefined)
    throw error
  } finally {
    await handle.close()
  }
}

/** A name like `tmp_obj_0123456789abcdef`: git's own prefixes, so that git's clean-up knows them too. */
export function temporaryName(prefix: string): string {
  return `${prefix}_${randomBytes(8).toString('hex')}`
}
