/** One change of a tree. Paths are slash-separated; one leading slash is dropped. */
export type Change =
  | {
      readonly action: 'create'
      readonly path: string
      readonly content: Buffer
      readonly executable?: boolean
    }
  | { readonly action: 'update'; readonly path: string; readonly content: Buffer }
  | { readonly action: 'move'; readonly path: string; readonly from: string; readonly content?: Buffer }
  | { readonly action: 'delete'; readonly path: string }
  | { readonly action: 'chmod'; readonly path: string; readonly executable: boolean }
  /** Sets a submodule's commit; the path may be new or a submodule already. */
  | { readonly action: 'link'; readonly path: string; readonly sha: string }

/**
 * Why a change cannot be made: a file is in the way, none is there, or the path is empty, leads upwards or is one that
 * no repository may hold.
 */
export type ChangeFault = 'exists' | 'missing' | 'empty_path' | 'traversal' | 'invalid_path'

/** The first change that cannot be made, and its place in the list; `path` as the caller gave it. */
export class ChangeRefused extends Error {
  override readonly name = 'ChangeRefused'
  readonly reason: ChangeFault
  readonly path: string
  readonly index: number

  constructor(reason: ChangeFault, path: string, index: number) {
    super(`Change ${index} is refused: ${reason}`)
    this.reason = reason
    this.path = path
    this.index = index
  }
}
