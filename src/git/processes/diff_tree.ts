import type { Dialect, Reading } from './process_protocol.ts'
import { GitError } from '../errors.ts'
import { isSha } from '../names.ts'

/** Lines added and removed; `total` is their sum; binary files count as nothing. */
export interface Stats {
  additions: number
  deletions: number
  total: number
}

/** A commit and the one parent it is compared with; without a parent it is compared with the empty tree. */
export interface DiffQuestion {
  sha: string
  parent: string | undefined
}

const maxAnswerBytes = 1_024
const summary = /^ \d+ files? changed(?:, (\d+) insertions?\(\+\))?(?:, (\d+) deletions?\(-\))?$/

/** `git diff-tree --stdin` with renames found as `git log` finds them. Only commits known to exist may be asked for. */
export const diffTree: Dialect<DiffQuestion, Stats> = {
  name: 'diff-tree',
  args: 'diff-tree --stdin --root -r -M --shortstat --no-ext-diff --no-textconv'.split(' '),
  perRepository: 2,
  silenceMs: 30_000,
  recycleAfter: 5_000,
  encode({ sha, parent }) {
    if (!isSha(sha) || (parent !== undefined && !isSha(parent)))
      throw new TypeError('Only full hashes are compared')
    // A line that is no hash is echoed and flushes git's output; it also marks where the answer ends.
    return `${sha}${parent === undefined ? '' : ` ${parent}`}\n= ${sha}\n`
  },
  read(bytes, { sha }): Reading<Stats> {
    const mark = bytes.indexOf(`= ${sha}\n`)
    if (mark === -1 && bytes.length <= maxAnswerBytes) return { need: bytes.length + 1 }
    if (mark === -1 || mark > maxAnswerBytes) throw new GitError('gone', 'git diff-tree answered out of form')
    const used = mark + sha.length + 3
    const [first, line, ...rest] = bytes.toString('latin1', 0, mark).split('\n')
    // An empty difference has no header either.
    if (first === '') return { used, answer: { additions: 0, deletions: 0, total: 0 } }
    const found = summary.exec(line ?? '')
    if (first !== sha || found === null || rest.length !== 1) {
      throw new GitError('gone', 'git diff-tree answered out of form')
    }
    const [additions, deletions] = [Number(found[1] ?? 0), Number(found[2] ?? 0)]
    return { used, answer: { additions, deletions, total: additions + deletions } }
  },
}
