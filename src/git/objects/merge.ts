import { join } from 'node:path'
import type { Commit } from './commit.ts'
import { GitError } from '../errors.ts'
import type { MergeQuestion, Merged } from './merge_tree.ts'
import { readLoose, storeObjects, storePassing } from './object_store.ts'
import { commitObject, makeObject, type NewObject } from './objects.ts'
import { Quarantines, type Quarantine, type QuarantineParts } from './merge_quarantine.ts'
import type { TreeReader } from './tree.ts'
import { directoryMode, emptyTree, linkMode, parseTree } from './tree_lines.ts'

/** A commit whose change is to be made again, or undone, on top of the commit `onto`; both are full hashes. */
export interface PickQuestion {
  readonly commit: string
  readonly onto: string
  /** True to leave nothing in the repository; the tree of the answer is then in no repository. */
  readonly dryRun?: boolean
}

/** The tree that came out, written durably unless it was a dry run; or why there is none. */
export type MergeResult = { readonly tree: string } | { readonly fault: 'conflict' | 'empty' }

/** Parts of the room that merging needs. */
export interface MergeParts extends QuarantineParts {
  readonly trees: TreeReader
  commit(gitDirectory: string, sha: string): Promise<Commit | undefined>
}

/** Three trees: what `theirs` changed since `base` is made on `ours`. */
interface ThreeTrees {
  readonly base: string
  readonly ours: string
  readonly theirs: string
}

/** Cherry-picks, reverts and merges. Nothing of a merge enters a repository unless its tree is wanted there. */
export class Merges {
  readonly #parts: MergeParts
  readonly #quarantines: Quarantines

  constructor(parts: MergeParts) {
    this.#parts = parts
    this.#quarantines = new Quarantines(parts)
  }

  /** Makes the change of a commit, or its opposite, on top of another. Throws GitError `gone` when one is missing. */
  async pick(gitDirectory: string, question: PickQuestion, way: 'again' | 'back'): Promise<MergeResult> {
    const [picked, onto] = await Promise.all([
      this.#commit(gitDirectory, question.commit),
      this.#commit(gitDirectory, question.onto),
    ])
    const [parent] = picked.parents
    const before = parent === undefined ? emptyTree : (await this.#commit(gitDirectory, parent)).tree
    const [base, theirs] = way === 'again' ? [before, picked.tree] : [picked.tree, before]
    const ours = onto.tree
    if (theirs === base || theirs === ours) return { fault: 'empty' }
    return this.#finish(gitDirectory, ours, question.dryRun, (quarantine) =>
      // A change on one side only needs no merge.
      ours === base
        ? Promise.resolve({ clean: true, tree: theirs })
        : mergeTrees(quarantine, gitDirectory, { base, ours, theirs }),
    )
  }

  /** Merges two commits as `git merge` would. Throws GitError `gone` when one is missing. */
  async merge(gitDirectory: string, question: MergeQuestion, dryRun?: boolean): Promise<MergeResult> {
    const [ours] = await Promise.all([
      this.#commit(gitDirectory, question.ours),
      this.#commit(gitDirectory, question.theirs),
    ])
    return this.#finish(gitDirectory, ours.tree, dryRun, (quarantine) =>
      quarantine.ask(gitDirectory, question),
    )
  }

  /** Replaces the repository's process. */
  recycle(gitDirectory: string): void {
    this.#quarantines.recycle(gitDirectory)
  }

  /** Ends every process and removes what they wrote. */
  close(): Promise<void> {
    return this.#quarantines.close()
  }

  async #commit(gitDirectory: string, sha: string): Promise<Commit> {
    const commit = await this.#parts.commit(gitDirectory, sha)
    if (commit === undefined) throw new GitError('gone', `There is no commit ${sha}`)
    return commit
  }

  #finish(
    gitDirectory: string,
    ours: string,
    dryRun: boolean | undefined,
    work: (quarantine: Quarantine) => Promise<Merged>,
  ): Promise<MergeResult> {
    return this.#quarantines.use(async (quarantine) => {
      const { clean, tree } = await work(quarantine)
      if (!clean) return { fault: 'conflict' }
      if (tree === ours) return { fault: 'empty' }
      if (dryRun !== true) {
        // git does not store the tree without entries.
        const made = tree === emptyTree ? [await makeObject('tree', Buffer.alloc(0))] : []
        await this.#gather(gitDirectory, quarantine.directory, { tree, ours }, made)
        await storeObjects(join(gitDirectory, 'objects'), made)
      }
      return { tree }
    })
  }

  /** Collects the objects of `tree` that only the quarantine has; what `ours` holds is passed over. */
  async #gather(
    gitDirectory: string,
    directory: string,
    { tree, ours }: { tree: string; ours: string | undefined },
    made: NewObject[],
  ): Promise<void> {
    const object = await readLoose(directory, tree)
    // Objects of the repository are complete there.
    if (object === undefined) return
    made.push(object)
    const { trees } = this.#parts
    const known = ours === undefined || ours === emptyTree ? [] : await trees.lines(gitDirectory, ours)
    const before = new Map(known.map((line) => [line.key, line]))
    for (const { key, mode, id } of await parseTree(object.body)) {
      const old = before.get(key)
      if (old?.id === id || mode === linkMode) continue
      if (mode === directoryMode) {
        const below = old?.mode === directoryMode ? old.id : undefined
        await this.#gather(gitDirectory, directory, { tree: id, ours: below }, made)
      } else {
        const blob = await readLoose(directory, id)
        if (blob !== undefined) made.push(blob)
      }
    }
  }
}

/**
 * Merges trees by way of commits that only the quarantine knows: two with one parent in common, so that git takes its
 * tree for the base. Every git since 2.38 does this, while `--merge-base` came later.
 */
async function mergeTrees(quarantine: Quarantine, gitDirectory: string, trees: ThreeTrees): Promise<Merged> {
  const person = { name: 'merge', email: '', date: { seconds: 0, offset: '+0000' } }
  const make = (tree: string, parents: readonly string[]): Promise<NewObject> =>
    commitObject({ tree, parents, author: person, committer: person, message: '' })
  const base = await make(trees.base, [])
  const [ours, theirs] = await Promise.all([make(trees.ours, [base.id]), make(trees.theirs, [base.id])])
  await storePassing(quarantine.directory, [base, ours, theirs])
  return quarantine.ask(gitDirectory, { ours: ours.id, theirs: theirs.id })
}
