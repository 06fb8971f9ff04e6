import type { Dialect, Reading } from './process_protocol.ts'
import { GitError } from '../errors.ts'
import { isAbbreviation, isRefName, isSha, treePath } from '../names.ts'

/**
 * A question to `cat-file`: what an object is, or what it holds. `object` is a hash or full ref, `^{commit}` allowed, or
 * a tree's full hash with the path of something in it, `hash:path`.
 */
export interface ObjectQuestion {
  command: 'info' | 'contents'
  object: string
}

/** The answer; `bytes` is a view that must be read at once and not kept, and empty for `info`. */
export interface ObjectAnswer {
  id: string
  /** `commit`, `tree`, `blob` or `tag`. */
  type: string
  size: number
  bytes: Buffer
}

const maxHeaderBytes = 4_096
const maxObjectBytes = 32 * 1024 * 1024
const headerLine = /^([0-9a-f]{40}) (commit|tree|blob|tag) (\d{1,15})$/
const nothing = Buffer.alloc(0)

/** `git cat-file --batch-command`; undefined stands for an object that is missing or an abbreviation of several. */
export const catFile: Dialect<ObjectQuestion, ObjectAnswer | undefined> = {
  name: 'cat-file',
  args: ['cat-file', '--batch-command'],
  perRepository: 2,
  silenceMs: 15_000,
  recycleAfter: 100_000,
  encode({ command, object }) {
    if (!isSafeObject(object)) throw new TypeError('Only hashes and full ref names may be asked for')
    return `${command} ${object}\n`
  },
  read(bytes, question): Reading<ObjectAnswer | undefined> {
    const end = bytes.indexOf(10)
    if (end === -1 && bytes.length <= maxHeaderBytes) return { need: bytes.length + 1 }
    const line = bytes.toString('utf8', 0, Math.min(end, maxHeaderBytes))
    if (line === `${question.object} missing` || line === `${question.object} ambiguous`) {
      return { used: end + 1, answer: undefined }
    }
    const [, id = '', type = '', digits = ''] = headerLine.exec(line) ?? []
    if (id === '') throw new GitError('gone', 'git cat-file answered out of form')
    if (question.object.length === 40 && isAbbreviation(question.object) && question.object !== id) {
      throw new GitError('gone', 'git cat-file answered for another object')
    }
    const answer = { id, type, size: Number(digits), bytes: nothing }
    if (question.command === 'info') return { used: end + 1, answer }
    if (answer.size > maxObjectBytes) throw new GitError('too_large', `Object ${id} has ${answer.size} bytes`)
    const used = end + 1 + answer.size + 1
    if (bytes.length < used) return { need: used }
    if (bytes[used - 1] !== 10) throw new GitError('gone', 'git cat-file lost its place')
    return { used, answer: { ...answer, bytes: bytes.subarray(end + 1, used - 1) } }
  },
}

function isSafeObject(object: string): boolean {
  if (object[40] === ':') {
    const path = object.slice(41)
    // Anything but a plain path inside the tree would end the process, and a line feed would be a second question.
    return isSha(object.slice(0, 40)) && path !== '' && treePath(path) === path && !path.includes('\n')
  }
  const name = object.endsWith('^{commit}') ? object.slice(0, -'^{commit}'.length) : object
  return name === 'HEAD' || isAbbreviation(name) || (name.startsWith('refs/') && isRefName(name))
}
