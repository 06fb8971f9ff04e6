/** A commit whose change is to be made again, or undone, on top of the commit `onto`; both are full hashes. */
export interface PickQuestion {
  readonly commit: string
  readonly onto: string
  /** True to leave nothing in the repository; the tree of the answer is then in no repository. */
  readonly dryRun?: boolean
}

/** The tree that came out, written durably unless it was a dry run; or why there is none. */
export type MergeResult = { readonly tree: string } | { readonly fault: 'conflict' | 'empty' }
