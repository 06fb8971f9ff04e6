import { PassThrough, type Readable } from 'node:stream'
import { GitError } from '../errors.ts'

/** Ends a section of pkt-lines. */
export const FLUSH = Buffer.from('0000')

/** The largest text that one line carries, in bytes. */
const MAX_LINE = 65_516

/** One pkt-line of at most MAX_LINE bytes; throws RangeError for more. */
export function pktLine(text: string | Buffer): Buffer {
  const bytes = Buffer.from(text)
  if (bytes.length > MAX_LINE) throw new RangeError('A pkt-line holds no more than 65,516 bytes')
  return Buffer.concat([Buffer.from((bytes.length + 4).toString(16).padStart(4, '0')), bytes])
}

/** Bytes for one band of a side-band: 1 for data, 2 for what the client shows to people. */
export function sideBand(band: 1 | 2, bytes: Buffer): Buffer {
  const lines: Buffer[] = []
  for (let at = 0; at < bytes.length; at += MAX_LINE - 1)
    lines.push(pktLine(Buffer.concat([Buffer.from([band]), bytes.subarray(at, at + MAX_LINE - 1)])))
  return Buffer.concat(lines)
}

/**
 * Reads pkt-lines from the front of a stream, in paused mode, and gives the rest of it as a stream.
 * At most `maxBytes` are read. Throws GitError `refused` for what is no pkt-line, `too_large` past the limit, and
 * `aborted` when the stream ends inside a line or fails.
 */
export class PktReader {
  readonly #stream: Readable
  readonly #maxBytes: number
  #held: Buffer = Buffer.alloc(0)
  #taken = 0

  constructor(stream: Readable, maxBytes: number) {
    this.#stream = stream
    this.#maxBytes = maxBytes
  }

  /** The text of the next line without its line feed; undefined for a flush. */
  async line(): Promise<Buffer | undefined> {
    const head = (await this.#take(4)).toString('latin1')
    if (!/^[0-9a-f]{4}$/i.test(head)) throw new GitError('refused', 'Not a pkt-line')
    const length = Number.parseInt(head, 16)
    if (length === 0) return undefined
    if (length < 4) throw new GitError('refused', 'Not a pkt-line')
    const text = await this.#take(length - 4)
    return text.at(-1) === 10 ? text.subarray(0, -1) : text
  }

  /** The next `size` bytes, which stay to be read; fewer at the end of the stream. */
  async peek(size: number): Promise<Buffer> {
    while (this.#held.length < size) if (!(await this.#more())) break
    return this.#held.subarray(0, size)
  }

  /** The remaining bytes, as a stream that ends and fails as the first one does. The reader is unusable afterwards. */
  rest(): Readable {
    const from = this.#stream
    const rest = new PassThrough()
    if (this.#held.length > 0) rest.write(this.#held)
    this.#held = Buffer.alloc(0)
    if (from.readableEnded) return rest.end()
    from.once('error', (error) => rest.destroy(error))
    from.once('close', () => {
      if (!from.readableEnded) rest.destroy(from.errored ?? new GitError('aborted', 'The stream was closed'))
    })
    if (from.destroyed) return rest.destroy(from.errored ?? undefined)
    return from.pipe(rest)
  }

  async #take(size: number): Promise<Buffer> {
    this.#taken += size
    if (this.#taken > this.#maxBytes) throw new GitError('too_large', 'Too many pkt-lines')
    while (this.#held.length < size)
      if (!(await this.#more())) throw new GitError('aborted', 'The stream ended inside a pkt-line')
    const taken = this.#held.subarray(0, size)
    this.#held = this.#held.subarray(size)
    return taken
  }

  /** Reads another chunk; false at the end. */
  async #more(): Promise<boolean> {
    const stream = this.#stream
    for (;;) {
      if (stream.errored) throw new GitError('aborted', 'The stream failed', { cause: stream.errored })
      const chunk = stream.read() as Buffer | null
      if (chunk !== null) {
        this.#held = this.#held.length === 0 ? chunk : Buffer.concat([this.#held, chunk])
        return true
      }
      if (stream.readableEnded || stream.destroyed) return false
      await new Promise<void>((resolve) => {
        const events = ['readable', 'end', 'close', 'error'] as const
        const wake = (): void => {
          for (const event of events) stream.off(event, wake)
          resolve()
        }
        for (const event of events) stream.on(event, wake)
      })
    }
  }
}
