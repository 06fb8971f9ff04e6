import { GitError } from './errors.ts'
import type { Change } from './changes.ts'
import type { MergeResult, PickQuestion } from './merge.ts'
import type { NewCommit, NewTag, Tag } from './objects.ts'
import type { Ref, RefMove } from './refs.ts'
import type { Blob, Entry, EntryQuery } from './tree.ts'

/** What a repository can be asked about refs, trees and files, and everything that writes into it. */
export interface Writes {
  /** What the ref of exactly this full name holds; undefined when there is none, or no repository. */
  ref(fullName: string): Promise<string | undefined>
  /** All refs whose full names start with `prefix` (`refs/heads/`), in the order of their names' bytes. */
  refs(prefix: string): Promise<Ref[]>
  /** The annotated tag with this full hash; undefined when it is none. */
  tag(id: string): Promise<Tag | undefined>
  /**
   * Runs `work` while nobody else in this process runs work for one of these full names: writes through the interface
   * and pushes take the same locks, in the order of asking. Calls must not be nested. Throws GitError `busy` after 60 s.
   */
  locked<T>(refs: readonly string[], work: () => Promise<T>): Promise<T>
  /**
   * Moves all refs or none, durably, each only from where the caller saw it. Throws GitError `moved` when one is
   * elsewhere, `refused` when a name stands in another's way (`a` and `a/b`), `busy` when another program holds one,
   * TypeError for names and hashes that are none. Callers hold `locked` around what they read and this.
   */
  moveRefs(moves: readonly RefMove[]): Promise<void>
  /** What is at `path` in the tree of `treeish`, a full hash of a commit or tree; undefined when nothing is. */
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
  /** Writes a commit durably and returns its hash. Throws GitError `refused` for texts that no commit may hold. */
  writeCommit(commit: NewCommit): Promise<string>
  /** writeTree and writeCommit in one go, which is quicker: everything is made durable at once. */
  writeChanges(
    base: string | undefined,
    changes: readonly Change[],
    commit: Omit<NewCommit, 'tree'>,
  ): Promise<{ commit: string; tree: string }>
  /** Writes an annotated tag durably and returns its hash. Throws GitError `refused` like writeCommit. */
  writeTag(tag: NewTag): Promise<string>
  /** Makes the change of a commit (of a merge: against its first parent) on top of another. */
  pick(question: PickQuestion): Promise<MergeResult>
  /** Undoes the change of a commit on top of another. */
  revert(question: PickQuestion): Promise<MergeResult>
  /** Merges two commits as `git merge` would; `empty` when `ours` already holds all of `theirs`. */
  mergeTrees(ours: string, theirs: string, dryRun?: boolean): Promise<MergeResult>
}

/** The writing side of the repository in `gitDirectory`. */
export function writesAt(): Writes {
  const later = (): Promise<never> => Promise.reject(new GitError('refused', 'This is not built yet'))
  return {
    ref: later,
    refs: later,
    tag: later,
    locked: later,
    moveRefs: later,
    entry: later,
    entries: later,
    blob: later,
    writeTree: later,
    writeCommit: later,
    writeChanges: later,
    writeTag: later,
    pick: later,
    revert: later,
    mergeTrees: later,
  }
}
