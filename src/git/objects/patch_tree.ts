import { randomBytes } from 'node:crypto'
import type { Dialect, Reading } from '../processes/process_protocol.ts'
import { GitError, isGitError } from '../errors.ts'
import { isSha } from '../names.ts'
import { PatchReader, type Patch, type PatchLimits } from './patch.ts'
import type { Pool } from '../processes/pool.ts'
import type { Spawner } from '../processes/spawner.ts'

/** Two trees, and a word that the answer cannot hold. */
export interface PatchQuestion {
  readonly from: string
  readonly to: string
  readonly mark: string
}

/** The tree without entries, known to every git. */
export const EMPTY_TREE = '4b825dc642cb6eb9a060e54bf8d69288fbee4904'

/** The parsed form of one diff. */
const PATCH_LIMITS: PatchLimits = {
  files: 3_000,
  fileBytes: 200 * 1024,
  fileLines: 20_000,
  bytes: 5 * 1024 * 1024,
  lines: 50_000,
}

const options = '-r -M --raw -z -p --no-color --no-ext-diff --no-textconv'.split(' ')
const maxAnswerBytes = 1024 * 1024

/** `git diff-tree --stdin -p` for differences that are small, as most are. Only trees known to exist may be asked for. */
export const patchTree: Dialect<PatchQuestion, Buffer> = {
  name: 'diff-tree -p',
  args: ['diff-tree', '--stdin', ...options],
  perRepository: 2,
  silenceMs: 30_000,
  recycleAfter: 2_000,
  encode({ from, to, mark }) {
    if (!isSha(from) || !isSha(to)) throw new TypeError('Only full hashes are compared')
    return `${from} ${to}\n= ${mark}\n`
  },
  read(bytes, { from, to, mark }): Reading<Buffer> {
    const end = bytes.indexOf(`= ${mark}\n`)
    if (end === -1 && bytes.length <= maxAnswerBytes) return { need: bytes.length + 1 }
    if (end === -1 || end > maxAnswerBytes)
      throw new GitError('too_large', 'A difference is too large to wait for')
    const header = `${from} ${to}\n`
    if (bytes.toString('latin1', 0, header.length) !== header)
      throw new GitError('gone', 'git diff-tree -p answered out of form')
    // The bytes are a view into what the conversation reads next.
    return { used: end + mark.length + 3, answer: Buffer.from(bytes.subarray(header.length, end)) }
  },
}

interface Around {
  readonly patches: Pool<PatchQuestion, Buffer>
  readonly spawner: Spawner
}

/** The difference between two trees that exist. Throws GitError when git fails. */
export async function readPatch(
  { patches, spawner }: Around,
  gitDirectory: string,
  [from, to]: readonly [string, string],
): Promise<Patch> {
  const reader = new PatchReader(PATCH_LIMITS)
  const question = { from, to, mark: randomBytes(16).toString('hex') }
  const small = await patches.ask(gitDirectory, question).catch((error: unknown) => {
    // Too large to wait for, or ended beside one that was.
    if (isGitError(error, 'too_large') || isGitError(error, 'gone')) return undefined
    throw error
  })
  if (small !== undefined) {
    if (small.length > 0) reader.push(small)
    return reader.end()
  }
  const args = ['diff-tree', ...options, '--end-of-options', from, to]
  const output = await spawner.stream(args, { gitDirectory, lane: 'quick' })
  try {
    for await (const bytes of output) if (!reader.push(bytes as Buffer)) break
  } finally {
    output.destroy()
  }
  return reader.end()
}
