import type { Dialect, Reading } from '../processes/process_protocol.ts'
import { GitError } from '../errors.ts'
import { isSha } from '../names.ts'

/** Two commits to be merged. */
export interface MergeQuestion {
  readonly ours: string
  readonly theirs: string
}

/** The result of merging two commits by git; of a conflict the tree holds files with conflict marks. */
export interface Merged {
  readonly clean: boolean
  readonly tree: string
}

const maxAnswerBytes = 4 * 1024 * 1024
const treeEnd = 42

/** The arguments of a merge that takes nothing from a working tree, and whose result nobody needs to find after a crash. */
export const mergeArguments: readonly string[] = [
  '-c',
  'core.fsync=none',
  'merge-tree',
  '--write-tree',
  '-z',
  '--name-only',
  '--no-messages',
  '--allow-unrelated-histories',
]

/** `git merge-tree --stdin` (git 2.39 or newer). An answer of more than 4 MiB, always a conflict, throws `too_large`. */
export const mergeTree: Dialect<MergeQuestion, Merged> = {
  name: 'merge-tree',
  args: [...mergeArguments, '--stdin'],
  perRepository: 1,
  silenceMs: 30_000,
  recycleAfter: 500,
  encode({ ours, theirs }) {
    if (!isSha(ours) || !isSha(theirs)) throw new TypeError('Only full hashes are merged')
    return `${ours} ${theirs}\n`
  },
  read(bytes): Reading<Merged> {
    // `0` or `1`, the tree and the names of files in conflict, a NUL after each, and one more.
    const end = bytes.indexOf('\0\0', treeEnd)
    if (end === -1 && bytes.length <= maxAnswerBytes) return { need: bytes.length + 1 }
    const [status, tree = ''] = bytes.toString('latin1', 0, treeEnd).split('\0')
    if ((status !== '0' && status !== '1') || !isSha(tree)) {
      throw new GitError('gone', 'git merge-tree answered out of form')
    }
    if (end === -1) throw new GitError('too_large', 'A merge has too many conflicts to name')
    return { used: end + 2, answer: { clean: status === '1', tree } }
  },
}
