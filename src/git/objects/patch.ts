import { GitError } from '../errors.ts'
import { textOf } from './legacy_text.ts'

/** One file of a difference. */
export interface FilePatch {
  readonly oldPath: string
  readonly newPath: string
  /** Six octal digits; `0` where the file is not there. */
  readonly oldMode: string
  readonly newMode: string
  readonly newFile: boolean
  readonly renamedFile: boolean
  readonly deletedFile: boolean
  /** Unified hunks from the first `@@` on; one line for binary files; empty where nothing but name or mode changed. */
  readonly diff: string
  /** The text was left out: it is over the limit of one file, or of all files together. */
  readonly tooLarge: boolean
}

/** A difference between two trees; `complete` is false when files were left out. */
export interface Patch {
  readonly files: FilePatch[]
  readonly complete: boolean
}

/** How much of a difference is kept; the bytes of text are counted without headers. */
export interface PatchLimits {
  readonly files: number
  readonly fileBytes: number
  readonly fileLines: number
  readonly bytes: number
  readonly lines: number
}

interface Open {
  oldPath: string
  newPath: string
  oldMode: string
  newMode: string
  status: string
  chunks: Buffer[]
  bytes: number
  inBody: boolean
  tooLarge: boolean
}

const record = /^:(\d{6}) (\d{6}) [0-9a-f]+ [0-9a-f]+ ([A-Z])\d*$/
const maxHeaderBytes = 16_384
const newline = 10
const fileStart = Buffer.from('diff --git ')
const hunkStart = Buffer.from('@@ ')
const binaryStart = Buffer.from('Binary files ')

/**
 * Reads the output of `git diff-tree -r --raw -z -p` as it arrives, keeping no more than the limits allow.
 * The names come from the raw part, which quotes nothing; the patches follow in the same order.
 */
export class PatchReader {
  readonly #limits: PatchLimits
  readonly #files: Open[] = []
  #rest: Buffer = Buffer.alloc(0)
  #inPatches = false
  #complete = true
  #at = -1
  /** How many patches the current file still has: a change of type is told as a deletion and a creation. */
  #halves = 0
  #skipping = false
  #bytes = 0
  #lines = 0

  constructor(limits: PatchLimits) {
    this.#limits = limits
  }

  /** Takes the next bytes; false when no more are wanted. Throws GitError `gone` for what is no difference. */
  push(bytes: Buffer): boolean {
    this.#rest = this.#rest.length === 0 ? bytes : Buffer.concat([this.#rest, bytes])
    if (!this.#inPatches && !this.#readRecords()) return this.#complete
    this.#readLines()
    return this.#complete && !this.#isFull
  }

  /** The bytes read, at the end of input. */
  end(): Patch {
    if (this.#inPatches && this.#rest.length > 0 && !this.#skipping) this.#line(this.#rest)
    // Where reading stopped early, nobody knows the texts of the files behind.
    const from = this.#isFull ? this.#at : this.#files.length
    const files = this.#files.map((file, i) => close(file, i >= from))
    return { files, complete: this.#complete }
  }

  get #isFull(): boolean {
    return this.#bytes > this.#limits.bytes || this.#lines > this.#limits.lines
  }

  /** Reads records until the patches begin; false while they have not. */
  #readRecords(): boolean {
    for (;;) {
      if (this.#rest.length === 0) return false
      if (this.#rest[0] === 0) {
        this.#rest = this.#rest.subarray(1)
        this.#inPatches = true
        return true
      }
      const fields = this.#fields()
      if (fields === undefined) return false
      if (this.#files.length === this.#limits.files) {
        this.#complete = false
        this.#rest = Buffer.alloc(0)
        return false
      }
      this.#files.push(fields)
    }
  }

  /** The next record, taken off; undefined when not all of it is there. */
  #fields(): Open | undefined {
    const end = this.#rest.indexOf(0)
    if (end === -1) return this.#short()
    const [, oldMode = '', newMode = '', status = ''] =
      record.exec(this.#rest.toString('latin1', 0, end)) ?? []
    if (status === '') throw new GitError('gone', 'git diff-tree answered out of form')
    const first = this.#rest.indexOf(0, end + 1)
    if (first === -1) return this.#short()
    const two = status === 'R' || status === 'C'
    const second = two ? this.#rest.indexOf(0, first + 1) : first
    if (second === -1) return this.#short()
    const oldPath = this.#rest.toString('utf8', end + 1, first)
    const newPath = two ? this.#rest.toString('utf8', first + 1, second) : oldPath
    this.#rest = this.#rest.subarray(second + 1)
    const body = { chunks: [], bytes: 0, inBody: false, tooLarge: false }
    return { oldPath, newPath, oldMode, newMode, status, ...body }
  }

  #short(): undefined {
    if (this.#rest.length > maxHeaderBytes) throw new GitError('gone', 'git diff-tree answered out of form')
    return undefined
  }

  #readLines(): void {
    let from = 0
    for (;;) {
      const end = this.#rest.indexOf(newline, from)
      if (end === -1) break
      if (this.#skipping) this.#skipping = false
      else this.#line(this.#rest.subarray(from, end + 1))
      from = end + 1
      if (this.#isFull) break
    }
    this.#rest = this.#rest.subarray(from)
    // One line can be as long as a file: what cannot be kept is not waited for.
    if (this.#rest.length > Math.max(this.#limits.fileBytes, maxHeaderBytes)) {
      if (!this.#skipping) this.#line(this.#rest)
      this.#skipping = true
      this.#rest = Buffer.alloc(0)
    }
  }

  #line(line: Buffer): void {
    if (startsWith(line, fileStart)) return this.#next()
    const file = this.#files[this.#at]
    if (file === undefined) throw new GitError('gone', 'git diff-tree answered out of form')
    // Lines of a body begin with a space, a sign or a backslash, so only headers can look like headers.
    file.inBody ||= startsWith(line, hunkStart) || startsWith(line, binaryStart)
    if (!file.inBody || file.tooLarge) return
    file.bytes += line.length
    file.tooLarge = file.bytes > this.#limits.fileBytes || file.chunks.length === this.#limits.fileLines
    if (file.tooLarge) {
      this.#bytes -= file.bytes - line.length
      this.#lines -= file.chunks.length
      file.chunks = []
      return
    }
    this.#bytes += line.length
    this.#lines += 1
    file.chunks.push(line)
  }

  #next(): void {
    if (this.#halves > 0) this.#halves -= 1
    else {
      this.#at += 1
      this.#halves = this.#files[this.#at]?.status === 'T' ? 1 : 0
    }
    const file = this.#files[this.#at]
    if (file === undefined) throw new GitError('gone', 'git diff-tree answered out of form')
    file.inBody = false
  }
}

const startsWith = (line: Buffer, start: Buffer): boolean =>
  line.length >= start.length && line.compare(start, 0, start.length, 0, start.length) === 0

function close(file: Open, unknown: boolean): FilePatch {
  const tooLarge = file.tooLarge || unknown
  return {
    oldPath: file.oldPath,
    newPath: file.newPath,
    oldMode: file.oldMode === '000000' ? '0' : file.oldMode,
    newMode: file.newMode === '000000' ? '0' : file.newMode,
    newFile: file.status === 'A' || file.status === 'C',
    renamedFile: file.status === 'R',
    deletedFile: file.status === 'D',
    diff: tooLarge ? '' : textOf(Buffer.concat(file.chunks)),
    tooLarge,
  }
}
