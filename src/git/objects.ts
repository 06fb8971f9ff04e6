import type { Signature } from './commit.ts'

/** A commit to be written. The message is stored as it is given. */
export interface NewCommit {
  readonly tree: string
  readonly parents: readonly string[]
  readonly author: Signature
  readonly committer: Signature
  readonly message: string
}

/** An annotated tag to be written; `name` is that of the ref without `refs/tags/`. */
export interface NewTag {
  readonly object: string
  readonly name: string
  readonly tagger: Signature
  readonly message: string
}

/** An annotated tag as it is stored. `tagger` is missing in some very old ones; `message` is whole. */
export interface Tag {
  readonly id: string
  readonly object: string
  readonly type: 'commit' | 'tree' | 'blob' | 'tag'
  readonly name: string
  readonly tagger: Signature | undefined
  readonly message: string
}
