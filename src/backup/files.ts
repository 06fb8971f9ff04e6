import { createHash } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { link, mkdir, open, readdir, stat } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import type { BackedUpFile } from './manifest.ts'

export const isMissing = (error: unknown): boolean =>
  error instanceof Error && 'code' in error && (error.code === 'ENOENT' || error.code === 'ENOTDIR')

/** Bytes that were written, and bytes that stand in the last backup already. */
export interface Totals {
  files: number
  copied: number
  linked: number
}

/** The files of a backup while it is made. */
export class Target {
  readonly folder: string
  readonly totals: Totals = { files: 0, copied: 0, linked: 0 }
  readonly #files = new Map<string, BackedUpFile>()
  readonly #last: { readonly folder: string; readonly files: ReadonlyMap<string, BackedUpFile> } | undefined
  readonly #folders = new Set<string>()

  constructor(folder: string, last: { folder: string; files: readonly BackedUpFile[] } | undefined) {
    this.folder = folder
    this.#last = last && { folder: last.folder, files: new Map(last.files.map((file) => [file.path, file])) }
  }

  get files(): readonly BackedUpFile[] {
    return [...this.#files.values()]
  }

  has(path: string): boolean {
    return this.#files.has(path)
  }

  /** Writes a file from bytes. */
  async write(
    path: string,
    bytes: AsyncIterable<Uint8Array> | Iterable<Uint8Array>,
    mtime = 0,
  ): Promise<void> {
    const place = join(this.folder, path)
    await this.#makeFolder(dirname(place))
    const hash = createHash('sha256')
    let size = 0
    const file = await open(place, 'w', 0o600)
    try {
      for await (const chunk of bytes) {
        hash.update(chunk)
        size += chunk.length
        await file.writeFile(chunk)
      }
    } finally {
      await file.close()
    }
    this.totals.copied += size
    this.#add({ path, size, sha256: hash.digest('hex'), mtime })
  }

  /** Links to the file of the last backup where it has the same name, size and time. */
  async reuse(path: string, size: number, mtime: number): Promise<boolean> {
    const known = this.#last?.files.get(path)
    if (this.#last === undefined || known?.size !== size || known.mtime !== mtime) return false
    const place = join(this.folder, path)
    await this.#makeFolder(dirname(place))
    try {
      await link(join(this.#last.folder, path), place)
    } catch {
      // Lost, or on a file system without links: it is copied again.
      return false
    }
    this.totals.linked += size
    this.#add(known)
    return true
  }

  /** Copies a file that does not change under its name. False where it has gone. */
  async copy(source: string, path: string): Promise<boolean> {
    try {
      const { size, mtimeMs } = await stat(source)
      if (await this.reuse(path, size, mtimeMs)) return true
      // Of a log that grows, as much as there is now.
      await this.write(path, size === 0 ? [] : createReadStream(source, { end: size - 1 }), mtimeMs)
      return true
    } catch (error) {
      if (isMissing(error)) return false
      throw error
    }
  }

  async #makeFolder(folder: string): Promise<void> {
    if (this.#folders.has(folder)) return
    await mkdir(folder, { recursive: true, mode: 0o700 })
    this.#folders.add(folder)
  }

  #add(file: BackedUpFile): void {
    this.#files.set(file.path, file)
    this.totals.files += 1
  }
}

/** Names of the files below a folder, with slashes; none where it is missing. */
export async function filesBelow(folder: string): Promise<string[]> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true }).catch((error: unknown) => {
    if (isMissing(error)) return []
    throw error
  })
  return entries
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name).slice(folder.length + 1))
}

/** Calls `work` for each item, a few at once. */
export async function eachOf<Item>(
  items: readonly Item[],
  work: (item: Item, index: number) => Promise<void>,
): Promise<void> {
  const left = items.entries()
  const run = async (): Promise<void> => {
    for (const [index, item] of left) await work(item, index)
  }
  await Promise.all(Array.from({ length: 4 }, run))
}
