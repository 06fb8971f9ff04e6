import { createHash } from 'node:crypto'
import type { Readable } from 'node:stream'
import type { LRUCache } from 'lru-cache'
import { GitError } from '../errors.ts'
import { isSha } from '../names.ts'
import type { Spawner } from '../processes/spawner.ts'
import type { Blob } from './tree.ts'

/** Milliseconds that somebody may take to read a file. */
const patienceMs = 10 * 60_000
/** Bytes up to which a file is read at once. */
const smallBytes = 4 * 1024 * 1024

/** The bytes of a file as they come, whatever their number. Throws like `Spawner.stream`. */
export function streamBlob(spawner: Spawner, gitDirectory: string, id: string): Promise<Readable> {
  if (!isSha(id)) throw new TypeError('Only full hashes are read')
  return spawner.stream(['cat-file', 'blob', id], { gitDirectory, timeoutMs: patienceMs, lane: 'download' })
}

/** The SHA-256 of a file's bytes, in hexadecimal; no more than a part of a large file is held. */
export async function digestBlob(
  { spawner, digests }: { readonly spawner: Spawner; readonly digests: LRUCache<string, string> },
  gitDirectory: string,
  blob: Blob,
): Promise<string> {
  const known = digests.get(blob.id)
  if (known !== undefined) return known
  const hash = createHash('sha256')
  if (blob.size <= smallBytes) hash.update(await blob.read(smallBytes))
  else
    for await (const bytes of await streamBlob(spawner, gitDirectory, blob.id)) hash.update(bytes as Buffer)
  const digest = hash.digest('hex')
  digests.set(blob.id, digest)
  return digest
}

/** The source of an archive: a commit by its full hash, or one path of it, below the directory `prefix`. */
export interface ArchiveQuery {
  readonly commit: string
  readonly path: string | undefined
  /** ASCII letters, digits, `.`, `_`, `-`, and a slash at the end. */
  readonly prefix: string
  /** `tar.bz2` takes the program `bzip2` on the path of git. */
  readonly format: 'tar' | 'tar.gz' | 'tar.bz2' | 'zip'
}

/**
 * The bytes of an archive as git makes it. Throws like `Spawner.stream`, GitError `refused` for a format that nothing here
 * packs, and TypeError for what could be an option.
 */
export async function streamArchive(
  spawner: Spawner,
  gitDirectory: string,
  query: ArchiveQuery,
): Promise<Readable> {
  const { commit, path, prefix, format } = query
  if (!isSha(commit) || !/^[\w.-]+\/$/.test(prefix)) throw new TypeError('An archive is made of a full hash')
  const bzip2 = format === 'tar.bz2'
  if (bzip2 && !(await spawner.has('bzip2'))) throw new GitError('refused', 'bzip2 is not installed')
  const packer = bzip2 ? ['-c', 'tar.tar.bz2.command=bzip2 -c'] : []
  const args = [...packer, 'archive', `--format=${format}`, `--prefix=${prefix}`, commit]
  // Behind the commit nothing is read as an option.
  if (path !== undefined) args.push('--', path)
  return spawner.stream(args, { gitDirectory, timeoutMs: patienceMs, lane: 'download' })
}
