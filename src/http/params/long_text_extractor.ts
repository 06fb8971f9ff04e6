import { randomBytes } from 'node:crypto'
import type { FileHandle } from 'node:fs/promises'
import { Transform, type TransformCallback } from 'node:stream'
import { LongText, type LongTexts } from './long_text.ts'
import { badBody, bodyTooLarge } from '../problems.ts'

const MB = 1024 * 1024
/** Bytes that stay in memory of a body whose long texts are on disk, and of any body that is no JSON. */
const MAX_MEMORY_BYTES = 32 * MB
const QUOTE = 0x22
const BACKSLASH = 0x5c
const COLON = 0x3a
const SPACE = 0x20
/** Bytes of a text from which it is put on disk. */
const MIN_LONG_TEXT_BYTES = 16 * 1024

interface SieveOptions {
  /** The only name under which a text may be long. */
  readonly apart: string
  readonly large?: Threshold
}

/** Calls `reached` once, before the chunk with the byte at `bytes` is taken; it may throw a Problem. */
interface Threshold {
  readonly bytes: number
  readonly reached: () => void
}

/**
 * Lets JSON through as it comes, but for the long texts of one name: these go to the file, and what stands for them
 * in the JSON tells which they are. It does not check JSON: what comes out is parsed afterwards.
 */
export class LongTextExtractor extends Transform {
  readonly texts: LongTexts
  /** Bytes that came in; read by the framework, which counts them against the limit. */
  receivedEncodedLength = 0
  readonly #file: FileHandle | undefined
  readonly #apart: string
  readonly #large: Threshold
  #kept = 0
  #inText = false
  #escaped = false
  /** Whether a colon stood between the last text and where we are: then that was a name. */
  #colon = false
  #last = ''
  #name = ''
  /** The beginning of a text that goes on in the next chunk, while it may still be short. */
  #held: Buffer[] = []
  #heldBytes = 0
  /** Where in the file the long text that is being read began. */
  #start: number | undefined
  #written = 0
  #toWrite: Buffer[] = []
  #writes = Promise.resolve()

  constructor(file: FileHandle | undefined, { apart, large }: SieveOptions) {
    super()
    this.#file = file
    this.#apart = apart
    this.#large = large ?? { bytes: Infinity, reached: () => {} }
    this.texts = { mark: `\u0001${randomBytes(12).toString('hex')}:`, found: [] }
  }

  /** Resolves when nothing is being written any more. */
  settled(): Promise<void> {
    return this.#writes
  }

  override _transform(chunk: Buffer, _encoding: string, done: TransformCallback): void {
    const before = this.receivedEncodedLength
    this.receivedEncodedLength += chunk.length
    try {
      if (before < this.#large.bytes && this.receivedEncodedLength >= this.#large.bytes) this.#large.reached()
      if (this.#file === undefined) this.#keep(chunk)
      else this.#sift(chunk, this.#file)
      if (this.#kept + this.#heldBytes > MAX_MEMORY_BYTES) throw bodyTooLarge()
    } catch (error) {
      done(error as Error)
      return
    }
    if (this.#file === undefined || this.#toWrite.length === 0) done()
    else this.#writes = this.#store(this.#file, done)
  }

  async #store(file: FileHandle, done: TransformCallback): Promise<void> {
    const bytes = Buffer.concat(this.#toWrite)
    this.#toWrite = []
    try {
      await file.write(bytes, 0, bytes.length, this.#written - bytes.length)
    } catch (error) {
      return done(error as Error)
    }
    done()
  }

  #keep(bytes: Buffer): void {
    if (bytes.length === 0) return
    this.#kept += bytes.length
    this.push(bytes)
  }

  /** Passes the kept parts of a chunk on, one piece between two long texts. */
  #sift(chunk: Buffer, file: FileHandle): void {
    let kept = 0
    for (let at = 0; at < chunk.length;) {
      if (!this.#inText) {
        at = this.#toText(chunk, at)
        continue
      }
      const end = this.#endOfText(chunk, at)
      const goesOn = end === undefined || this.#heldBytes > 0 || this.#start !== undefined
      if (goesOn || (this.#name === this.#apart && end - at >= MIN_LONG_TEXT_BYTES)) {
        this.#keep(chunk.subarray(kept, at))
        this.#take(chunk.subarray(at, end ?? chunk.length))
        kept = end ?? chunk.length
        if (end !== undefined) this.#endTaken(file)
      } else this.#last = end - at <= this.#apart.length ? chunk.toString('latin1', at, end) : ''
      this.#inText = end === undefined
      at = end === undefined ? chunk.length : end + 1
    }
    this.#keep(chunk.subarray(kept))
  }

  /** Goes behind the quote that opens the next text, or to the end of the chunk. */
  #toText(chunk: Buffer, from: number): number {
    const open = chunk.indexOf(QUOTE, from)
    const stop = open === -1 ? chunk.length : open
    this.#colon ||= chunk.subarray(from, stop).includes(COLON)
    if (open === -1) return stop
    if (this.#colon) this.#name = this.#last
    this.#colon = false
    this.#inText = true
    return open + 1
  }

  /** The index of the quote that ends the text, or undefined when it goes on in the next chunk. */
  #endOfText(chunk: Buffer, from: number): number | undefined {
    for (let at = from; at < chunk.length; at += 1) {
      const byte = chunk[at] ?? 0
      if (byte < SPACE) throw badBody()
      if (this.#escaped) this.#escaped = false
      else if (byte === BACKSLASH) this.#escaped = true
      else if (byte === QUOTE) return at
    }
    return undefined
  }

  /** Part of a text that is long, or may become so. */
  #take(bytes: Buffer): void {
    if (this.#start !== undefined) return this.#write(bytes)
    this.#held.push(bytes)
    this.#heldBytes += bytes.length
    if (this.#name !== this.#apart || this.#heldBytes < MIN_LONG_TEXT_BYTES) return
    this.#start = this.#written
    for (const part of this.#held) this.#write(part)
    this.#held = []
    this.#heldBytes = 0
  }

  #write(bytes: Buffer): void {
    this.#toWrite.push(bytes)
    this.#written += bytes.length
  }

  #endTaken(file: FileHandle): void {
    this.#last = ''
    if (this.#start === undefined) {
      const text = Buffer.concat(this.#held)
      if (text.length <= this.#apart.length) this.#last = text.toString('latin1')
      this.#keep(text)
    } else {
      const { mark, found } = this.texts
      // The mark begins with a control character as JSON writes it.
      this.#keep(Buffer.from(`\\u0001${mark.slice(1)}${found.length}`))
      found.push(new LongText(file, this.#start, this.#written - this.#start))
    }
    this.#held = []
    this.#heldBytes = 0
    this.#start = undefined
  }
}
