import type { FilePatch } from '../../git/objects/patch.ts'
import type { Repository } from '../../git/repository.ts'
import { lineCode, lineOn, standsAt } from './diff_lines.ts'

// Where the line of a diff note stands in a later version of its merge request. A version compares a base with a head.

/** The commits that a version of a merge request compares. */
export interface Version {
  readonly base_sha: string
  readonly start_sha: string
  readonly head_sha: string
}

interface LineEnd {
  readonly line_code?: string
  readonly type?: string | null
  readonly old_line?: number | null
  readonly new_line?: number | null
}
/** Where a diff note stands; lines are null on the side that does not have them, and absent for images and whole files. */
export interface Position extends Version, Pick<LineEnd, 'old_line' | 'new_line'> {
  readonly position_type: 'text' | 'image' | 'file'
  readonly old_path: string
  readonly new_path: string
  readonly line_range?: { readonly start: LineEnd; readonly end: LineEnd } | null
}

/** The position in the new version; `outdated` where its line or file changed; `unknown` where a difference was too large to read. */
export type Traced = Position | 'outdated' | 'unknown'

interface Line {
  readonly old_line: number | null
  readonly new_line: number | null
}

class Unread extends Error {}

/** The files of a difference, which may be cut short at the limits of the git reader. */
class Files {
  readonly #files: readonly FilePatch[]
  readonly #complete: boolean
  constructor({ files, complete }: { readonly files: readonly FilePatch[]; readonly complete: boolean }) {
    this.#files = files
    this.#complete = complete
  }
  from(path: string): FilePatch | undefined {
    return this.#known(this.#files.find(({ oldPath, newFile }) => oldPath === path && !newFile))
  }
  to(path: string): FilePatch | undefined {
    return this.#known(this.#files.find(({ newPath, deletedFile }) => newPath === path && !deletedFile))
  }
  /** A deleted file is named by its old path on both sides. */
  named(path: string): FilePatch | undefined {
    return this.#known(this.#files.find(({ newPath }) => newPath === path))
  }
  #known(file: FilePatch | undefined): FilePatch | undefined {
    if (file === undefined ? !this.#complete : file.tooLarge) throw new Unread()
    return file
  }
}

const isText = ({ diff }: FilePatch): boolean => diff === '' || diff.startsWith('@@')

/** The line on the other side of a difference; a file that is not in it has the same lines on both. */
function across(file: FilePatch | undefined, line: number, to: 'new' | 'old'): number | undefined {
  if (file === undefined) return line
  return isText(file) ? lineOn(file.diff, line, to) : undefined
}

/** Traces positions from one version of a merge request to the next. */
export class Tracer {
  readonly #version: Version
  /** From the old base to the new, from the old head to the new, and the new version itself. */
  readonly #bases: Files
  readonly #heads: Files
  readonly #now: Files

  private constructor(version: Version, differences: readonly [Files, Files, Files]) {
    this.#version = version
    ;[this.#bases, this.#heads, this.#now] = differences
  }

  /** Reads the differences; undefined where a commit of the versions is gone. */
  static async between(repository: Repository, from: Version, to: Version): Promise<Tracer | undefined> {
    const shas = [from.base_sha, to.base_sha, from.head_sha, to.head_sha]
    const trees = (await Promise.all(shas.map((sha) => repository.commit(sha)))).map((commit) => commit?.tree)
    const [oldBase, newBase, oldHead, newHead] = trees
    if (oldBase === undefined || newBase === undefined || oldHead === undefined || newHead === undefined)
      return undefined
    const files = async (before: string, after: string): Promise<Files> =>
      new Files(before === after ? { files: [], complete: true } : await repository.patch(before, after))
    return new Tracer(
      to,
      await Promise.all([files(oldBase, newBase), files(oldHead, newHead), files(newBase, newHead)]),
    )
  }

  trace(position: Position): Traced {
    try {
      return (position.position_type === 'text' ? this.#text(position) : this.#file(position)) ?? 'outdated'
    } catch (error) {
      if (error instanceof Unread) return 'unknown'
      throw error
    }
  }

  /** A note on a file as such stays while that file does not change. */
  #file(position: Position): Position | undefined {
    if (this.#heads.from(position.new_path) !== undefined) return undefined
    const file = this.#now.named(position.new_path)
    return file && this.#placed(position, file)
  }

  #text(position: Position): Position | undefined {
    const file = this.#fileOf(position)
    const line = file && this.#line(position, file, position)
    if (file === undefined || line === undefined) return undefined
    const { line_range: range = null } = position
    const [start, end] = [range?.start, range?.end].map((each) => each && this.#end(position, file, each))
    return { ...this.#placed(position, file), ...line, line_range: start && end ? { start, end } : null }
  }

  /** The file of a position as the new version has it. */
  #fileOf({ old_path, new_path, new_line }: Position): FilePatch | undefined {
    if ((new_line ?? null) !== null) return this.#now.to(this.#heads.from(new_path)?.newPath ?? new_path)
    return this.#now.from(this.#bases.from(old_path)?.newPath ?? old_path)
  }

  /** The line in the new version: added, removed and unchanged lines stay what they are, or an added one becomes unchanged. */
  #line(
    position: Position,
    file: FilePatch,
    { old_line = null, new_line = null }: LineEnd,
  ): Line | undefined {
    const before =
      old_line === null ? undefined : across(this.#bases.from(position.old_path), old_line, 'new')
    const after = new_line === null ? undefined : across(this.#heads.from(position.new_path), new_line, 'new')
    if (new_line === null)
      return before === undefined || across(file, before, 'new') !== undefined
        ? undefined
        : { old_line: before, new_line: null }
    if (after === undefined) return undefined
    const counterpart = across(file, after, 'old') ?? null
    return old_line === null || counterpart === before
      ? { old_line: counterpart, new_line: after }
      : undefined
  }

  #end(position: Position, file: FilePatch, given: LineEnd): LineEnd | undefined {
    const line = this.#line(position, file, given)
    if (line === undefined) return undefined
    const { old_line, new_line } = line
    const [number, side] =
      new_line === null ? ([old_line ?? 0, 'old'] as const) : ([new_line, 'new'] as const)
    const at = standsAt(file.diff, number, side) ?? { before: old_line ?? 0, after: new_line ?? 0 }
    const type = old_line === null ? 'new' : new_line === null ? 'old' : null
    return { line_code: lineCode(file.newPath, at.before, at.after), type, old_line, new_line }
  }

  #placed(position: Position, { oldPath, newPath }: FilePatch): Position {
    return { ...position, ...this.#version, old_path: oldPath, new_path: newPath }
  }
}

/** Whether two versions change the same, line numbers apart, as after a rebase; false where one was too large to read. */
export async function isSameChange(
  repository: Repository,
  versions: readonly [Version, Version],
): Promise<boolean> {
  const [before, after] = await Promise.all(versions.map((version) => changeOf(repository, version)))
  return before !== undefined && before === after
}

async function changeOf(
  repository: Repository,
  { base_sha, head_sha }: Version,
): Promise<string | undefined> {
  const [base, head] = await Promise.all([repository.commit(base_sha), repository.commit(head_sha)])
  if (base === undefined || head === undefined) return undefined
  const { files, complete } = await repository.patch(base.tree, head.tree)
  // Of binary files only the names are told.
  if (!complete || files.some((file) => file.tooLarge || !isText(file))) return undefined
  const plain = files.map((file) => ({ ...file, diff: file.diff.replaceAll(/^@@ .*$/gm, '@@') }))
  return JSON.stringify(plain)
}
