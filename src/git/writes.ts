import { join } from 'node:path'
import { applyChanges, type Change } from './objects/changes.ts'
import type { Drafted } from './objects/draft.ts'
import { GitError } from './errors.ts'
import { turnsAt, type RepositoryTurns } from './refs/push_turns.ts'
import type { Merges, MergeResult, PickQuestion } from './objects/merge.ts'
import { storeAhead } from './objects/object_store.ts'
import {
  commitObject,
  findTag,
  readType,
  tagObject,
  type NewCommit,
  type NewObject,
  type NewTag,
  type Tag,
} from './objects/objects.ts'
import { checkMoves, moveAll } from './refs/ref_moves.ts'
import { isFullRefName, readRefs, type Ref, type RefMove } from './refs/refs.ts'
import type { Blob, Entry, EntryQuery } from './objects/tree.ts'
import type { TreeLine } from './objects/tree_lines.ts'
import type { Writing } from './write_parts.ts'

/** Reads of refs, trees and files of a repository, and all writes into it. */
export interface Writes {
  /** The hash of the ref of exactly this full name; undefined without one, or without a repository. */
  ref(fullName: string): Promise<string | undefined>
  /** All refs whose full names start with `prefix` (`refs/heads/`), in the order of their names' bytes. */
  refs(prefix: string): Promise<Ref[]>
  /** The annotated tag with this full hash; undefined when it is none. */
  tag(id: string): Promise<Tag | undefined>
  /**
   * Runs `work` while nobody else in this process runs work for one of these full names: writes through the interface
   * and pushes take the same locks, in the order of asking. Calls must not be nested. Throws GitError `busy` after 60 s.
   * While somebody's turn to push is on (see PushTurns) all but that `pusher` wait.
   */
  locked<T>(refs: readonly string[], work: () => Promise<T>, pusher?: string): Promise<T>
  /** Turns of pushers. */
  readonly turns: RepositoryTurns
  /**
   * Moves all refs or none, durably with all objects written before, each only from where the caller saw it. Throws
   * GitError `moved` when one is elsewhere, `refused` when a name stands in another's way (`a` and `a/b`), `busy` when another program holds one,
   * TypeError for names and hashes that are none. Callers hold `locked` around what they read and this.
   */
  moveRefs(moves: readonly RefMove[]): Promise<void>
  /** The entry at `path` in the tree of `treeish`, a full hash of a commit or tree; undefined without one. */
  entry(treeish: string, path: string): Promise<Entry | undefined>
  /** One page of a directory in git's order; undefined when `path` is no directory there. */
  entries(treeish: string, query: EntryQuery): Promise<Entry[] | undefined>
  /** The file content with this full hash; undefined when there is none. */
  blob(id: string): Promise<Blob | undefined>
  /**
   * The tree that `changes`, made one after the other, turn the tree of the commit `base` into (undefined: the empty
   * tree). Throws ChangeRefused for the first that cannot be made, and then nothing is written.
   */
  writeTree(base: string | undefined, changes: readonly Change[]): Promise<string>
  /** Writes a commit and returns its hash; it is durable once a ref has moved. Throws GitError `refused` for texts that no commit may hold. */
  writeCommit(commit: NewCommit): Promise<string>
  /**
   * writeTree and writeCommit in one go, which is quicker: the disk is asked once for all, and it is not waited for. The
   * commit and its tree can be read, and named by others, once a ref has moved to it; moveRefs throws what went wrong
   * with storing it.
   */
  writeChanges(
    base: string | undefined,
    changes: readonly Change[],
    commit: Omit<NewCommit, 'tree'>,
  ): Promise<{ commit: string; tree: string }>
  /** Writes an annotated tag and returns its hash, like writeCommit. Throws GitError `refused` like it. */
  writeTag(tag: NewTag): Promise<string>
  /** Makes the change of a commit (of a merge: against its first parent) on top of another. */
  pick(question: PickQuestion): Promise<MergeResult>
  /** Undoes the change of a commit on top of another. */
  revert(question: PickQuestion): Promise<MergeResult>
  /** Merges two commits as `git merge` would; `empty` when that would change nothing in `ours`. */
  mergeTrees(ours: string, theirs: string, dryRun?: boolean): Promise<MergeResult>
}

/** The writing side of the repository in `gitDirectory`. */
export function writesAt(writing: Writing, path: string, gitDirectory: string): Writes {
  const { trees } = writing
  return {
    ...refsAt(writing, path, gitDirectory),
    ...objectsAt(writing, gitDirectory),
    entry: (treeish, at) => trees.entry(gitDirectory, treeish, at),
    entries: (treeish, query) => trees.entries(gitDirectory, treeish, query),
    blob: (id) => trees.blob(gitDirectory, id),
    ...mergesAt(writing.merges, gitDirectory),
  }
}

function refsAt(
  writing: Writing,
  path: string,
  gitDirectory: string,
): Pick<Writes, 'ref' | 'refs' | 'tag' | 'locked' | 'turns' | 'moveRefs'> {
  const { objects, packed, locks, turns, janitor, folder, underWay, pending } = writing
  const locked: Writes['locked'] = async (names, work, pusher) => {
    const keys = names.map((name) => `${gitDirectory}\0${name}`)
    // Turns are about branches and tags; what else is locked here need not wait for them.
    if (!names.some((name) => name.startsWith('refs/'))) return locks.hold(keys, work)
    const leave = await turns.pass(gitDirectory, pusher)
    try {
      return await locks.hold(keys, work)
    } finally {
      leave()
    }
  }
  return {
    ref: async (name) => (isFullRefName(name) ? writing.refs.read(gitDirectory, name) : undefined),
    refs: (prefix) => listRefs(writing, gitDirectory, prefix),
    tag: (id) => findTag(objects, gitDirectory, id),
    locked,
    turns: turnsAt(turns, gitDirectory),
    moveRefs: async (moves) => {
      checkMoves(moves)
      // Asked for in the moment in which checkTargets looks, so that a failure cannot be missed; awaited by moveAll.
      const stored = Promise.all(moves.map(({ to }) => underWay.settle(gitDirectory, to)))
      stored.catch(() => undefined)
      await checkTargets(writing, gitDirectory, moves)
      await folder.announce()
      const settle = async (): Promise<void> => {
        await stored
        await pending.settle(gitDirectory)
      }
      try {
        await moveAll({ packed, janitor, settle }, gitDirectory, moves)
      } finally {
        for (const { ref } of moves) writing.refs.forget(gitDirectory, ref)
      }
      writing.moves.set(path, (writing.moves.get(path) ?? 0) + moves.length)
      writing.touched(path)
    },
  }
}

function objectsAt(
  { objects, trees, underWay, pending }: Writing,
  gitDirectory: string,
): Pick<Writes, 'writeTree' | 'writeCommit' | 'writeChanges' | 'writeTag'> {
  const store = join(gitDirectory, 'objects')
  const read = (tree: string): Promise<readonly TreeLine[]> => trees.lines(gitDirectory, tree)
  const begin = async (made: readonly NewObject[]): Promise<{ readonly stored: Promise<void> }> => {
    const { placed } = await storeAhead(store, made)
    return { stored: placed.then((makeDurable) => pending.add(gitDirectory, makeDurable())) }
  }
  const keep = async (made: readonly NewObject[]): Promise<void> => (await begin(made)).stored
  const drafted = async (base: string | undefined, changes: readonly Change[]): Promise<Drafted> => {
    await underWay.settle(gitDirectory, base)
    const root = base === undefined ? undefined : await trees.root(gitDirectory, base)
    if (base !== undefined && root === undefined) throw new GitError('gone', `There is no commit ${base}`)
    return applyChanges(root, changes, read)
  }
  return {
    writeTree: async (base, changes) => {
      const made = await drafted(base, changes)
      await keep(made.objects)
      trees.keep(gitDirectory, made.trees)
      return made.tree
    },
    writeCommit: async (commit) => {
      const object = await commitObject(commit)
      await Promise.all(commit.parents.map((parent) => underWay.settle(gitDirectory, parent)))
      await keep([object])
      trees.keep(gitDirectory, new Map(), { id: object.id, tree: commit.tree })
      return object.id
    },
    writeChanges: async (base, changes, commit) => {
      const { tree, objects: made, trees: lines } = await drafted(base, changes)
      const object = await commitObject({ ...commit, tree })
      const { stored } = await begin([...made, object])
      const kept = stored.then(() => trees.keep(gitDirectory, lines, { id: object.id, tree }))
      underWay.add(gitDirectory, object.id, kept)
      return { commit: object.id, tree }
    },
    writeTag: async (tag) => {
      const target = await objects.ask(gitDirectory, { command: 'info', object: tag.object })
      if (target === undefined) throw new GitError('gone', `There is no object ${tag.object}`)
      const object = await tagObject(tag, readType(target.type))
      await keep([object])
      return object.id
    },
  }
}

function mergesAt(merges: Merges, gitDirectory: string): Pick<Writes, 'pick' | 'revert' | 'mergeTrees'> {
  return {
    pick: (question) => merges.pick(gitDirectory, question, 'again'),
    revert: (question) => merges.pick(gitDirectory, question, 'back'),
    mergeTrees: (ours, theirs, dryRun) => merges.merge(gitDirectory, { ours, theirs }, dryRun),
  }
}

/** Refs point at objects that are there, and branches at commits. */
async function checkTargets(
  { objects, trees, underWay }: Writing,
  gitDirectory: string,
  moves: readonly RefMove[],
): Promise<void> {
  await Promise.all(
    moves.map(async ({ ref, to }) => {
      if (to === undefined || underWay.has(gitDirectory, to) || trees.isKnownCommit(gitDirectory, to)) return
      const found = await objects.ask(gitDirectory, { command: 'info', object: to })
      const isRight = ref.startsWith('refs/heads/') ? found?.type === 'commit' : found !== undefined
      if (!isRight) throw new GitError('refused', `${ref} cannot point at ${to}`)
    }),
  )
}

async function listRefs({ packed, objects }: Writing, gitDirectory: string, prefix: string): Promise<Ref[]> {
  if (!prefix.endsWith('/') || !isFullRefName(`${prefix}x`))
    throw new TypeError('Refs are listed by directory')
  const found = await readRefs(packed, gitDirectory, prefix)
  return Promise.all(
    found.map(async ([name, id]) => {
      // A branch is never anything but a commit.
      const isBranch = name.startsWith('refs/heads/')
      const commit = isBranch
        ? id
        : (await objects.ask(gitDirectory, { command: 'info', object: `${id}^{commit}` }))?.id
      return { name, id, commit }
    }),
  )
}
