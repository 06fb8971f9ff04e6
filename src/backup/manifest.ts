import { createHash } from 'node:crypto'
import { createReadStream, createWriteStream } from 'node:fs'
import { once } from 'node:events'
import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { createInterface } from 'node:readline'

/** A fault of a backup or of the place that it is restored to, in words for people. */
export class BackupFault extends Error {}

export interface BackedUpTable {
  /** Quoted, with its schema. */
  readonly name: string
  /** Quoted; without generated columns. */
  readonly columns: readonly string[]
  readonly rows: number
  readonly file: string
}
export interface Header {
  readonly format: 1
  /** The moment of the snapshot. */
  readonly created_at: string
  readonly migrations: readonly number[]
  readonly tables: readonly BackedUpTable[]
  /** Statements that make the partitions. */
  readonly partitions: readonly string[]
  /** Quoted name to last value. */
  readonly sequences: Readonly<Record<string, string>>
  /** Projects whose refs may have moved since the snapshot, and when they did, in milliseconds. */
  readonly moved: readonly { readonly id: number; readonly at: number }[]
  /** Locations of blobs. */
  readonly blobs: readonly string[]
}
export interface BackedUpFile {
  /** Below the backup, with slashes. */
  readonly path: string
  readonly size: number
  readonly sha256: string
  /** Of the source, in milliseconds. */
  readonly mtime: number
}
export interface Manifest {
  readonly header: Header
  readonly files: readonly BackedUpFile[]
}

interface End {
  readonly end: number
  readonly sha256: string
}

const FILE = 'manifest'
/** Names of complete backups below a folder: their moments, which sort. */
const NAME = /^\d{4}-\d\d-\d\dT\d\d-\d\d-\d\d-\d{3}Z$/
export const nameOf = (moment: Date): string => moment.toISOString().replaceAll(/[:.]/g, '-')

/** The newest complete backup below `folder`, or `folder` itself where it is one. */
export async function findBackup(folder: string): Promise<string | undefined> {
  const names: string[] = await readdir(folder).catch(() => [])
  if (names.includes(FILE)) return folder
  const newest = names
    .filter((name) => NAME.test(name))
    .toSorted()
    .at(-1)
  return newest === undefined ? undefined : join(folder, newest)
}

/** Writes the manifest: a line for the header, one for each file, and a last one with the digest of all before it. */
export async function writeManifest(folder: string, { header, files }: Manifest): Promise<void> {
  const hash = createHash('sha256')
  const out = createWriteStream(join(folder, FILE), { mode: 0o600, flush: true })
  for (const line of [header, ...files]) {
    const text = `${JSON.stringify(line)}\n`
    hash.update(text)
    if (!out.write(text)) await once(out, 'drain')
  }
  out.end(`${JSON.stringify({ end: files.length, sha256: hash.digest('hex') })}\n`)
  await once(out, 'close')
}

/** Reads a manifest. Throws BackupFault where it is missing, cut off or changed. */
export async function readManifest(folder: string): Promise<Manifest> {
  const hash = createHash('sha256')
  const files: BackedUpFile[] = []
  const broken = (): BackupFault => new BackupFault(`the manifest of ${folder} is damaged`)
  let header: Header | undefined
  let end: End | undefined
  const input = createReadStream(join(folder, FILE))
  try {
    for await (const line of createInterface({ input, crlfDelay: Infinity })) {
      const read: unknown = JSON.parse(line)
      if (end !== undefined) throw broken()
      if (header === undefined) header = read as Header
      else if (typeof read === 'object' && read !== null && 'end' in read) {
        end = read as End
        continue
      } else files.push(read as BackedUpFile)
      hash.update(`${line}\n`)
    }
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT')
      throw new BackupFault(`there is no backup in ${folder}`, { cause: error })
    throw broken()
  }
  if (header?.format !== 1 || end?.end !== files.length || end.sha256 !== hash.digest('hex')) throw broken()
  return { header, files }
}
