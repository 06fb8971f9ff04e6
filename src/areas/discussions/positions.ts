import { Type as t, type Static } from 'typebox'
import type { Noteable } from '../../core/conversation/noteable.ts'
import { isSame, lineCode, standsAt } from '../../core/conversation/diff_lines.ts'
import type { Db } from '../../db/db.ts'
import type { FilePatch } from '../../git/objects/patch.ts'
import { emptyTree } from '../../git/objects/tree_lines.ts'
import type { Repository } from '../../git/repository.ts'
import { refused, type Problem } from '../../http/problems.ts'
import { nullable, oneOf } from '../../http/params/schema.ts'
import { hasDiff, newestDiff } from './store.ts'

// A note on a line stands only where the difference really has that line.

const lineEnd = t.Object({
  line_code: t.Optional(t.String()),
  type: t.Optional(nullable(oneOf(['new', 'old', 'expanded']))),
  old_line: t.Optional(nullable(t.Integer())),
  new_line: t.Optional(nullable(t.Integer())),
})
const path = t.Optional(nullable(t.String({ maxLength: 4096 })))
const sha = t.String({ pattern: '^[0-9a-f]{40}$' })

export const PositionParams = t.Object({
  base_sha: sha,
  start_sha: sha,
  head_sha: sha,
  position_type: oneOf(['text', 'image', 'file']),
  old_path: path,
  new_path: path,
  old_line: t.Optional(nullable(t.Integer())),
  new_line: t.Optional(nullable(t.Integer())),
  line_range: t.Optional(t.Object({ start: lineEnd, end: lineEnd })),
  width: t.Optional(nullable(t.Integer())),
  height: t.Optional(nullable(t.Integer())),
  x: t.Optional(nullable(t.Number())),
  y: t.Optional(nullable(t.Number())),
})
type Given = Static<typeof PositionParams>
type End = Static<typeof lineEnd>

export const badLine = (): Problem =>
  refused(`400 Bad request - Note {:line_code=>["can't be blank", "must be a valid line code"]}`)
export const badPosition = (): Problem => refused(`400 Bad request - Note {:position=>["is invalid"]}`)

interface Place {
  readonly db: Db
  readonly repository: Repository
  readonly about: Noteable
  /** A commit of the merge request that the note is on. */
  readonly commitId: string | undefined
}

/** Throws the published Problem when the commit is none of the merge request's. */
export async function checkCommitOf({ db, repository, about, commitId }: Place): Promise<void> {
  if (commitId === undefined) return
  const newest = await newestDiff(db, about.id)
  const commit = await repository.commit(commitId)
  if (
    newest === undefined ||
    commit === undefined ||
    !(await repository.isAncestor(commitId, newest.head_sha))
  )
    throw badPosition()
  if (await repository.isAncestor(commitId, newest.base_sha)) throw badPosition()
}

/** Whether what is compared is the commit, or one of the differences that the merge request had. */
async function isKnown({ db, repository, about, commitId }: Place, given: Given): Promise<boolean> {
  const { base_sha: base, start_sha: start, head_sha: head } = given
  const one = about.sha ?? commitId
  if (one !== undefined && head === one) {
    const commit = await repository.commit(one)
    const parent = commit?.parents[0] ?? emptyTree
    return commit !== undefined && base === parent && start === parent
  }
  if (about.kind !== 'merge_request') return false
  return hasDiff(db, about.id, { base, start, head })
}

async function fileOf(repository: Repository, given: Given): Promise<FilePatch> {
  const trees = await Promise.all([repository.commit(given.base_sha), repository.commit(given.head_sha)])
  const [before, after] = trees.map((commit) => commit?.tree)
  if (after === undefined) throw badPosition()
  const { files } = await repository.patch(before, after)
  const [from, to] = [given.old_path ?? given.new_path, given.new_path ?? given.old_path]
  const file = files.find(({ oldPath, newPath }) => newPath === to && (oldPath === from || from === to))
  if (file === undefined) throw badLine()
  return file
}

const LARGEST = 10 * 1024 * 1024

/** How many lines the file has where the difference ends; 0 where that is too many to count. */
async function lengthOf(repository: Repository, head: string, { newPath }: FilePatch): Promise<number> {
  const entry = await repository.entry(head, newPath)
  const blob = entry && (await repository.blob(entry.id))
  if (blob === undefined || blob.size > LARGEST) return 0
  const bytes = await blob.read(LARGEST)
  let lines = bytes.length > 0 && bytes.at(-1) !== 10 ? 1 : 0
  for (let at = bytes.indexOf(10); at !== -1; at = bytes.indexOf(10, at + 1)) lines += 1
  return lines
}

/** Judges the lines of one file of one difference. */
class Lines {
  readonly #repository: Repository
  readonly #head: string
  readonly #file: FilePatch
  constructor(repository: Repository, head: string, file: FilePatch) {
    this.#repository = repository
    this.#head = head
    this.#file = file
  }

  /** The code of the line; undefined when the difference has none such. */
  async codeOf(before: number | null, after: number | null): Promise<string | undefined> {
    const { diff, newPath } = this.#file
    if (before !== null && after !== null) {
      const length = await lengthOf(this.#repository, this.#head, this.#file)
      return isSame(diff, before, after, length) ? lineCode(newPath, before, after) : undefined
    }
    const line = before === null ? standsAt(diff, after ?? 0, 'new') : standsAt(diff, before, 'old')
    return line && lineCode(newPath, line.before, line.after)
  }

  /** The end of a range, with all that its line is called by. */
  async end(given: End): Promise<object> {
    const [, before, after] = /^[0-9a-f]{40}_(\d{1,9})_(\d{1,9})$/.exec(given.line_code ?? '') ?? []
    const [old_line, new_line] = [given.old_line ?? null, given.new_line ?? null]
    const candidates: [number | null, number | null][] =
      before === undefined || after === undefined
        ? [[old_line, new_line]]
        : [
            [null, Number(after)],
            [Number(before), null],
            [Number(before), Number(after)],
          ]
    for (const [from, to] of candidates) {
      if (from === null && to === null) continue
      const code = await this.codeOf(from, to)
      if (code === undefined || (given.line_code !== undefined && code !== given.line_code)) continue
      if ((old_line !== null && old_line !== from) || (new_line !== null && new_line !== to)) continue
      const type = given.type ?? (from === null ? 'new' : to === null ? 'old' : null)
      return { line_code: code, type, old_line: from, new_line: to }
    }
    throw badLine()
  }
}

/** The position as it is kept. Throws the published Problem where the difference does not have it. */
export async function checkPosition(place: Place, given: Given): Promise<object> {
  const { base_sha, start_sha, head_sha, position_type } = given
  if (given.position_type === 'text' && (given.old_path ?? given.new_path ?? '') === '') throw badPosition()
  if (!(await isKnown(place, given))) throw badPosition()
  const file = await fileOf(place.repository, given)
  const there = {
    base_sha,
    start_sha,
    head_sha,
    position_type,
    old_path: file.oldPath,
    new_path: file.newPath,
  }
  if (position_type === 'file') return there
  if (position_type === 'image') {
    const { width = null, height = null, x = null, y = null } = given
    return { ...there, width, height, x, y }
  }
  const [old_line, new_line] = [given.old_line ?? null, given.new_line ?? null]
  if (old_line === null && new_line === null) throw badLine()
  const lines = new Lines(place.repository, head_sha, file)
  if ((await lines.codeOf(old_line, new_line)) === undefined) throw badLine()
  const range = given.line_range && {
    start: await lines.end(given.line_range.start),
    end: await lines.end(given.line_range.end),
  }
  return { ...there, old_line, new_line, line_range: range ?? null }
}
