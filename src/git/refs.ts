/** One movement of a ref: `from` undefined means that it must not exist yet, `to` undefined that it goes. */
export interface RefMove {
  /** The full name, such as `refs/heads/main`. */
  readonly ref: string
  readonly from: string | undefined
  readonly to: string | undefined
}

/** A ref as it stands. `id` is what it holds, `commit` the commit behind it, which a tag of a tree or a blob lacks. */
export interface Ref {
  /** The full name, such as `refs/tags/v1`. */
  readonly name: string
  readonly id: string
  readonly commit: string | undefined
}
