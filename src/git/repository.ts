import { access, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { LRUCache } from 'lru-cache'
import type { Readable } from 'node:stream'
import { digestBlob, streamArchive, streamBlob, type ArchiveQuery } from './objects/blob_stream.ts'
import { fileSizes, type FileSize } from './objects/file_sizes.ts'
import type { ObjectAnswer, ObjectQuestion } from './processes/cat_file.ts'
import { parseCommit, type Commit } from './objects/commit.ts'
import type { DiffQuestion, Stats } from './processes/diff_tree.ts'
import { GitError, isGitError } from './errors.ts'
import type { LogQuery, Walks, WalkTools } from './history/log.ts'
import { mergedInto } from './history/merged.ts'
import { isAbbreviation, isSha, refCandidates } from './names.ts'
import type { Patch } from './objects/patch.ts'
import { EMPTY_TREE, readPatch, type PatchQuestion } from './objects/patch_tree.ts'
import type { Pool } from './processes/pool.ts'
import { reachAt, type Reach } from './history/reach.ts'
import { readRevision, type Step } from './revision.ts'
import { sortedRefs, type RefSorting } from './refs/ref_order.ts'
import type { Ref } from './refs/refs.ts'
import type { Spawner } from './processes/spawner.ts'
import type { Blob } from './objects/tree.ts'
import { writesAt, type Writes } from './writes.ts'
import type { Writing } from './write_parts.ts'

/** One repository. A handle is cheap and holds nothing; it may outlive the repository. */
export interface Repository extends Reach, Writes {
  /** The path it was asked for by, relative to the room's root. */
  readonly path: string
  /** True when a repository is there, empty or not. */
  exists(): Promise<boolean>
  /** True when it has neither branches nor tags. Throws GitError when there is no repository. */
  isEmpty(): Promise<boolean>
  /** The branch that HEAD names, whether it has commits or not; undefined when HEAD names none or there is no repository. */
  defaultBranch(): Promise<string | undefined>
  /**
   * The full hash of the commit that `rev` means: a full hash, a tag or branch (a tag first, as in git, but never before
   * the branch that HEAD names; annotated tags peeled), HEAD or `@`, or an abbreviated hash of one commit only (4 digits
   * at least), and steps from there to an ancestor (`main~2`, `v1^2`). Undefined for everything else, and where there is
   * no repository: no other expression of git is evaluated. Throws GitError when git fails.
   */
  resolve(rev: string): Promise<string | undefined>
  /** The commit with this full hash; undefined when there is none. Throws GitError when git fails. */
  commit(sha: string): Promise<Commit | undefined>
  /** Lines changed by each commit against its first parent (a root against nothing); unknown hashes are left out. */
  stats(shas: readonly string[]): Promise<Map<string, Stats>>
  /** Those of the commits, all by full hashes, that are `tip` or in its history. */
  mergedInto(tip: string, commits: readonly string[]): Promise<Set<string>>
  /** The refs below `prefix`, such as `refs/tags/`, by name, by the date of the commit or tag, or by version. */
  sortedRefs(prefix: string, sorting: RefSorting): Promise<Pick<Ref, 'name' | 'id'>[]>
  /** The difference from one tree to another, `from` undefined for no files at all. Throws GitError when git fails. */
  patch(from: string | undefined, to: string): Promise<Patch>
  /** The bytes of the file with this full hash as they come. Throws GitError when git fails. */
  streamBlob(id: string): Promise<Readable>
  /** The bytes of an archive as they come. Throws GitError when git fails. */
  streamArchive(query: ArchiveQuery): Promise<Readable>
  /** Every file of the commit with this full hash, and its size. Throws GitError when git fails. */
  fileSizes(commit: string): AsyncIterable<FileSize>
  /** The SHA-256 of a file's bytes, in hexadecimal. */
  digestBlob(blob: Blob): Promise<string>
  /** The hashes of one page of history, see LogQuery. Throws TypeError for malformed queries, GitError when git fails. */
  log(query: LogQuery): Promise<readonly string[]>
}

/** Parts shared by all repositories of a room. */
export interface Room {
  readonly spawner: Spawner
  readonly objects: Pool<ObjectQuestion, ObjectAnswer | undefined>
  readonly diffs: Pool<DiffQuestion, Stats>
  readonly patches: Pool<PatchQuestion, Buffer>
  readonly walks: Walks
  readonly walkTools: WalkTools
  readonly commits: LRUCache<string, Commit>
  readonly stats: LRUCache<string, Stats>
  /** SHA-256 by the hash of a file, which says all there is of it. */
  readonly digests: LRUCache<string, string>
  readonly writing: Writing
}

/** The handle of the repository in `gitDirectory`, an absolute path that the caller has validated. */
export function repositoryAt(room: Room, path: string, gitDirectory: string): Repository {
  return {
    path,
    exists: () => isRepository(gitDirectory),
    isEmpty: () => isEmpty(room, gitDirectory),
    defaultBranch: () => headBranch(gitDirectory),
    resolve: (rev) =>
      resolve(room, gitDirectory, rev).catch(async (error: unknown) => {
        if (isGitError(error, 'refused') && !(await isRepository(gitDirectory))) return undefined
        throw error
      }),
    commit: (sha) => findCommit(room, gitDirectory, sha),
    stats: (shas) => findStats(room, gitDirectory, shas),
    mergedInto: (tip, refs) => mergedInto(room.walkTools, gitDirectory, tip, refs),
    sortedRefs: (prefix, sorting) => sortedRefs(room.spawner, gitDirectory, prefix, sorting),
    patch: (from, to) => readPatch(room, gitDirectory, [from ?? EMPTY_TREE, to]),
    streamBlob: (id) => streamBlob(room.spawner, gitDirectory, id),
    streamArchive: (query) => streamArchive(room.spawner, gitDirectory, query),
    fileSizes: (commit) => fileSizes(room.spawner, gitDirectory, commit),
    digestBlob: (blob) => digestBlob(room, gitDirectory, blob),
    log: (query) => room.walks.page(gitDirectory, query),
    ...reachAt(room.walkTools, gitDirectory),
    ...writesAt(room.writing, path, gitDirectory),
  }
}

/** True when `gitDirectory` holds a repository's HEAD and object store. */
export async function isRepository(gitDirectory: string): Promise<boolean> {
  try {
    await Promise.all([access(join(gitDirectory, 'HEAD')), access(join(gitDirectory, 'objects'))])
    return true
  } catch {
    return false
  }
}

async function isEmpty({ spawner }: Room, gitDirectory: string): Promise<boolean> {
  const args = ['for-each-ref', '--count=1', '--format=%(objectname)', 'refs/heads', 'refs/tags']
  return (await spawner.run(args, { gitDirectory })).length === 0
}

async function headBranch(gitDirectory: string): Promise<string | undefined> {
  try {
    const head = await readFile(join(gitDirectory, 'HEAD'), 'utf8')
    return /^ref:\s*refs\/heads\/(.+)\n?$/.exec(head)?.[1]
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined
    throw error
  }
}

async function resolve(room: Room, gitDirectory: string, rev: string): Promise<string | undefined> {
  const revision = readRevision(rev)
  let sha = revision && (await resolveName(room, gitDirectory, revision.name))
  for (const step of revision?.steps ?? []) sha = sha && (await ancestor(room, gitDirectory, sha, step))
  return sha
}

async function ancestor(
  room: Room,
  gitDirectory: string,
  sha: string,
  step: Step,
): Promise<string | undefined> {
  if ('parent' in step)
    return step.parent === 0 ? sha : (await findCommit(room, gitDirectory, sha))?.parents[step.parent - 1]
  const query = { from: [sha], firstParent: true, skip: step.back, limit: 1 }
  return (await room.walks.page(gitDirectory, query))[0]
}

async function resolveName(room: Room, gitDirectory: string, rev: string): Promise<string | undefined> {
  const hash = rev.toLowerCase()
  // As in git, a full hash is never a name, and a name goes before an abbreviation.
  if (isSha(hash)) return room.commits.has(keyOf(gitDirectory, hash)) ? hash : peel(room, gitDirectory, hash)
  const read = (ref: string): Promise<string | undefined> => room.writing.refs.read(gitDirectory, ref)
  for (const ref of refCandidates(rev)) {
    const id = await read(ref)
    if (id === undefined) continue
    // A tag may not stand in for the default branch, however it came here: imported, or made before the branch was.
    if (ref === `refs/tags/${rev}` && (await headBranch(gitDirectory)) === rev) {
      const branch = await read(`refs/heads/${rev}`)
      if (branch !== undefined) return branch
    }
    // Branches hold commits, as git sees to it; a tag may hold anything.
    const sha = ref.startsWith('refs/tags/') ? await peel(room, gitDirectory, id) : id
    if (sha !== undefined) return sha
  }
  return isAbbreviation(rev) ? peel(room, gitDirectory, hash) : undefined
}

const keyOf = (gitDirectory: string, sha: string): string => `${gitDirectory}\0${sha}`

async function peel(room: Room, gitDirectory: string, object: string): Promise<string | undefined> {
  return (await room.objects.ask(gitDirectory, { command: 'info', object: `${object}^{commit}` }))?.id
}

/** The commit with this full hash; undefined when there is none. Throws GitError when git fails. */
export async function findCommit(
  room: Pick<Room, 'objects' | 'commits'>,
  gitDirectory: string,
  sha: string,
): Promise<Commit | undefined> {
  if (!isSha(sha)) return undefined
  const key = keyOf(gitDirectory, sha)
  const known = room.commits.get(key)
  if (known !== undefined) return known
  const answer = await room.objects.ask(gitDirectory, { command: 'contents', object: sha })
  if (answer?.type !== 'commit') return undefined
  const commit = parseCommit(sha, answer.bytes)
  room.commits.set(key, commit)
  return commit
}

/** Bytes of a root tree up to which lines are counted, as of one that is read. */
const MAX_TREE_BYTES = 32 * 1024 * 1024

async function findStats(
  room: Room,
  gitDirectory: string,
  shas: readonly string[],
): Promise<Map<string, Stats>> {
  const find = async (sha: string): Promise<[string, Stats | undefined]> => {
    const key = keyOf(gitDirectory, sha)
    const known = room.stats.get(key)
    if (known !== undefined) return [sha, known]
    const commit = await findCommit(room, gitDirectory, sha)
    if (commit === undefined) return [sha, undefined]
    // Git reads the whole tree of a commit without a parent, and of most others.
    const tree = await room.objects.ask(gitDirectory, { command: 'info', object: commit.tree })
    if ((tree?.size ?? 0) > MAX_TREE_BYTES)
      throw new GitError('too_large', 'The tree is too large to compare')
    const stats = await room.diffs.ask(gitDirectory, { sha, parent: commit.parents[0] })
    room.stats.set(key, stats)
    return [sha, stats]
  }
  const found = await Promise.all([...new Set(shas)].map(find))
  return new Map(found.filter((entry): entry is [string, Stats] => entry[1] !== undefined))
}
