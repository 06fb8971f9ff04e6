import { closeSync, renameSync } from 'node:fs'
import { readdir, rmdir, unlink } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { hasCode, makeDirectory, syncDirectory, syncFile, writeAll } from '../durable.ts'
import { GitError } from '../errors.ts'
import type { Janitor } from '../care/janitor.ts'
import { isSha } from '../names.ts'
import { hasPackedBelow, withoutPacked, type PackedRefsReader } from './packed_refs.ts'
import { isFullRefName, readRef, type RefMove } from './refs.ts'

/** Parts of the room that moving refs needs. */
export interface RefMoving {
  readonly packed: PackedRefsReader
  readonly janitor: Janitor
  /** Waits until all that the refs may lead to is durable. */
  readonly settle: () => Promise<void>
}

interface Held {
  readonly move: RefMove
  readonly lock: string
  readonly file: number
  /** True once the lock file has become the ref's file. */
  placed: boolean
}

const lockWaitMs = 3_000
const askJanitorMs = 500
const retryMs = 10
const directoryAttempts = 5
const filledAtOnce = 100

/** Throws TypeError unless every move is one of a full ref name between full hashes, and each ref is named once. */
export function checkMoves(moves: readonly RefMove[]): void {
  const names = new Set(moves.map(({ ref }) => ref))
  if (names.size !== moves.length) throw new TypeError('A ref moves once at a time')
  for (const { ref, from, to } of moves) {
    if (!isFullRefName(ref)) throw new TypeError('Only refs with full names move')
    if (from === undefined && to === undefined) throw new TypeError('A ref moves from or to somewhere')
    for (const id of [from, to]) {
      if (id !== undefined && (!isSha(id) || /^0+$/.test(id))) throw new TypeError('Refs hold full hashes')
    }
    for (let at = ref.lastIndexOf('/'); at > 5; at = ref.lastIndexOf('/', at - 1)) {
      if (names.has(ref.slice(0, at))) throw inTheWay(ref.slice(0, at), ref)
    }
  }
}

/**
 * Moves checked refs with git's own protocol of lock files, so that git may write beside it. Each ref is held by its
 * lock, compared, and only when all agree is any of them moved. Throws GitError `moved`, `refused` or `busy`, with no
 * ref moved.
 */
export async function moveAll(
  moving: RefMoving,
  gitDirectory: string,
  moves: readonly RefMove[],
): Promise<void> {
  const held: Held[] = []
  const filling: Promise<void>[] = []
  try {
    for (const move of moves.toSorted((a, b) => (a.ref < b.ref ? -1 : 1))) {
      const each = await take(moving, gitDirectory, move)
      held.push(each)
      const filled = fill(each)
      // Awaited below; until then a failure must not count as nobody's.
      filled.catch(() => undefined)
      filling.push(filled)
      await compare(moving, gitDirectory, move)
      // A push may bring thousands, and each that is being filled is an open file.
      if (filling.length % filledAtOnce === 0) await Promise.all(filling)
    }
    await Promise.all([...filling, moving.settle()])
    await commit(moving, gitDirectory, held)
  } finally {
    await Promise.allSettled(filling)
    // One that was renamed may meanwhile have been made anew by somebody else.
    const left = held.filter(({ placed }) => !placed)
    await Promise.all(left.map(({ lock }) => unlink(lock).catch(() => undefined)))
    for (const { lock } of held) moving.janitor.closed(lock)
    const vacated = held.filter(({ move }) => move.to === undefined || move.from === undefined)
    for (const { move } of vacated) await removeEmptyParents(gitDirectory, move.ref)
  }
}

async function take(moving: RefMoving, gitDirectory: string, move: RefMove): Promise<Held> {
  const lock = join(gitDirectory, `${move.ref}.lock`)
  const until = performance.now() + lockWaitMs
  let askAt = 0
  for (let attempt = 1; ;) {
    try {
      return { move, lock, file: moving.janitor.openLock(lock), placed: false }
    } catch (error) {
      if (hasCode(error, 'EEXIST')) {
        if (performance.now() > askAt) {
          if (await moving.janitor.removeDeadLock(gitDirectory, lock)) continue
          askAt = performance.now() + askJanitorMs
        }
        if (performance.now() > until) throw new GitError('busy', `Another program holds ${move.ref}`)
        await sleep(retryMs)
      } else if (hasCode(error, 'ENOENT') && attempt < directoryAttempts) {
        // Again after others removed an empty directory just made.
        attempt += 1
        await makeDirectory(dirname(lock)).catch((reason: unknown) => {
          if (hasCode(reason, 'ENOTDIR', 'EEXIST')) throw inTheWay(dirname(move.ref), move.ref)
          if (!hasCode(reason, 'ENOENT')) throw reason
        })
      } else throw hasCode(error, 'ENOTDIR') ? inTheWay(dirname(move.ref), move.ref) : error
    }
  }
}

async function compare(
  { packed }: RefMoving,
  gitDirectory: string,
  { ref, from, to }: RefMove,
): Promise<void> {
  const current = await readRef(packed, gitDirectory, ref)
  if (current !== from) throw new GitError('moved', `${ref} is not where it was`)
  if (from !== undefined || to === undefined) return
  const all = await packed.read(gitDirectory)
  for (let at = ref.lastIndexOf('/'); at > 5; at = ref.lastIndexOf('/', at - 1)) {
    if (all.ids.has(ref.slice(0, at))) throw inTheWay(ref.slice(0, at), ref)
  }
  if (hasPackedBelow(all, ref) || !(await clearDirectory(join(gitDirectory, ref)))) {
    throw inTheWay(`${ref}/`, ref)
  }
}

function inTheWay(existing: string, ref: string): GitError {
  return new GitError('refused', `${existing} exists; ${ref} cannot be made`)
}

/** Removes a directory that holds nothing but directories; false when there is a file in it. */
async function clearDirectory(directory: string): Promise<boolean> {
  try {
    const entries = await readdir(directory, { withFileTypes: true })
    for (const entry of entries) {
      if (!entry.isDirectory() || !(await clearDirectory(join(directory, entry.name)))) return false
    }
    await rmdir(directory)
    return true
  } catch (error) {
    if (hasCode(error, 'ENOENT', 'ENOTDIR')) return true
    if (hasCode(error, 'ENOTEMPTY', 'EEXIST')) return false
    throw error
  }
}

async function fill({ move, file }: Held): Promise<void> {
  try {
    if (move.to === undefined) return
    await writeAll(file, `${move.to}\n`)
    await syncFile(file)
  } finally {
    closeSync(file)
  }
}

async function commit(
  { packed, janitor }: RefMoving,
  gitDirectory: string,
  held: readonly Held[],
): Promise<void> {
  const gone = held.filter(({ move }) => move.to === undefined).map(({ move }) => move.ref)
  const { ids } = gone.length === 0 ? { ids: new Map() } : await packed.read(gitDirectory)
  const inPacked = gone.filter((ref) => ids.has(ref))
  const rewrite =
    inPacked.length === 0 ? undefined : await withoutPacked(gitDirectory, new Set(inPacked), janitor)
  try {
    await placeAll(gitDirectory, held)
    // Before the refs' own files: the other way round an old value would show for a moment, or after a crash for good.
    await rewrite?.place()
  } finally {
    await rewrite?.abandon()
  }
  await Promise.all(gone.map((ref) => removeFile(join(gitDirectory, ref))))
  await syncParents(
    gitDirectory,
    held.map(({ move }) => move.ref),
  )
}

async function removeFile(file: string): Promise<void> {
  try {
    await unlink(file)
  } catch (error) {
    if (!hasCode(error, 'ENOENT')) throw error
  }
}

async function placeAll(gitDirectory: string, held: readonly Held[]): Promise<void> {
  const isNew = ({ move }: Held): boolean => move.from === undefined
  const placing = held.filter(({ move }) => move.to !== undefined)
  const created: Held[] = []
  try {
    // New refs first: only theirs can fail, when another program has just made a directory of that name.
    for (const each of [...placing.filter(isNew), ...placing.filter((other) => !isNew(other))]) {
      renameSync(each.lock, join(gitDirectory, each.move.ref))
      each.placed = true
      if (isNew(each)) created.push(each)
    }
  } catch (error) {
    for (const { move } of created) await removeFile(join(gitDirectory, move.ref))
    throw hasCode(error, 'EISDIR', 'ENOTEMPTY', 'EEXIST')
      ? new GitError('refused', 'A directory of that name was made meanwhile', { cause: error })
      : error
  }
}

async function syncParents(gitDirectory: string, refs: readonly string[]): Promise<void> {
  const parents = new Set(refs.map((ref) => dirname(join(gitDirectory, ref))))
  await Promise.all(
    [...parents].map((parent) =>
      syncDirectory(parent).catch((error: unknown) => {
        // The directory was removed meanwhile, and its removal is all there is to make durable.
        if (!hasCode(error, 'ENOENT')) throw error
      }),
    ),
  )
}

/** Removes the directories that a ref leaves empty, up to `refs/heads` and the like. */
async function removeEmptyParents(gitDirectory: string, ref: string): Promise<void> {
  for (let at = dirname(ref); at.split('/').length > 2; at = dirname(at)) {
    try {
      await rmdir(join(gitDirectory, at))
    } catch {
      return
    }
  }
}
