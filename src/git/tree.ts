/** What stands in a tree. `mode` is git's: `100644`, `100755`, `120000`, `040000` or `160000`. */
export interface Entry {
  readonly mode: string
  readonly type: 'blob' | 'tree' | 'commit'
  readonly id: string
  /** The last part of the path; bytes that are no UTF-8 give U+FFFD. */
  readonly name: string
  /** The whole path from the root of the tree that was asked, without slashes around it. */
  readonly path: string
}

/** Which entries are listed: those of the directory `path` (empty for the root), with all below it when `recursive`. */
export interface EntryQuery {
  readonly path: string
  readonly recursive?: boolean
  readonly skip: number
  readonly limit: number
}

/** The content of a file. Its size is known before a byte of it is read. */
export interface Blob {
  readonly id: string
  readonly size: number
  /** All bytes; throws GitError `too_large` when there are more than `maxBytes`, at most 32 MiB. */
  read(maxBytes: number): Promise<Buffer>
}
