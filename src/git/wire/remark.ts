import { Transform, type TransformCallback } from 'node:stream'
import { sideBand } from './pkt_lines.ts'

const PACK_BEGINS = 'packfile\n'
const LENGTH = 4

/** Passes the answer to a fetch of protocol 2 on, and tells people something where its pack begins. */
export class Remark extends Transform {
  readonly #words: string
  #held = Buffer.alloc(0)
  #told = false

  constructor(words: string) {
    super()
    this.#words = words
  }

  override _transform(chunk: Buffer, _encoding: string, done: TransformCallback): void {
    if (this.#told) return done(null, chunk)
    this.#held = Buffer.concat([this.#held, chunk])
    while (!this.#told && this.#held.length >= LENGTH) {
      // Lengths below four stand for themselves: flush, delimiter, end of the answer.
      const length = Math.max(LENGTH, Number.parseInt(this.#held.toString('latin1', 0, LENGTH), 16) || 0)
      if (this.#held.length < length) return done()
      const line = this.#held.subarray(0, length)
      this.#held = this.#held.subarray(length)
      this.push(line)
      this.#told = line.toString('latin1', LENGTH) === PACK_BEGINS
    }
    if (!this.#told) return done()
    this.push(sideBand(2, Buffer.from(this.#words)))
    done(null, this.#held)
  }

  override _flush(done: TransformCallback): void {
    done(null, this.#told ? null : this.#held)
  }
}
