import { isUtf8 } from 'node:buffer'

// Reads single values out of a JSON document of any length, in memory that is bounded by the largest value taken.

export type JsonPath = readonly (string | number)[]

/** The treatment of the value at a path: parse it, look inside, or skip it. Scalars are never looked into. */
export type Choice = 'take' | 'enter' | 'skip'

export interface Slice {
  /** Which of the documents that follow each other; 0 is the first. */
  readonly document: number
  readonly path: JsonPath
  /** Undefined where there is a fault. */
  readonly value: unknown
  readonly bytes: number
  /** Why the value was not parsed: `larger than 100 bytes`. */
  readonly fault?: string | undefined
}

/** The document is not JSON; says near which byte. */
export class NotJson extends Error {
  constructor(offset: number) {
    super(`not JSON at byte ${offset}`)
  }
}

interface Frame {
  readonly isArray: boolean
  key: string | number
}

type Expects = 'value' | 'first' | 'key' | 'colon' | 'comma' | 'end'

const MAX_KEY_BYTES = 65_536
/** Levels of nesting: deeper values overflow the stack of code that walks through them. */
const MAX_DEPTH = 100
const [QUOTE, BACKSLASH, COMMA, COLON] = [0x22, 0x5c, 0x2c, 0x3a]
const [OPEN_ARRAY, CLOSE_ARRAY, OPEN_OBJECT, CLOSE_OBJECT] = [0x5b, 0x5d, 0x7b, 0x7d]
const isBlank = (byte: number): boolean => byte === 0x20 || byte === 0x0a || byte === 0x0d || byte === 0x09
const isBom = (byte: number, offset: number): boolean => [0xef, 0xbb, 0xbf][offset] === byte
const endsScalar = (byte: number): boolean =>
  byte === COMMA || byte === CLOSE_ARRAY || byte === CLOSE_OBJECT || isBlank(byte)

/** Collects the bytes of one value over chunks, and finds where it ends. */
class Span {
  readonly #limit: number
  readonly #parts: Buffer[] = []
  readonly isKept: boolean
  #size = 0
  #depth = 0
  #deepest = 0
  #isString = false
  #isEscaped = false
  #isScalar = false
  #isBegun = false

  constructor(isKept: boolean, limit: number) {
    this.isKept = isKept
    this.#limit = limit
  }

  /** Takes bytes from `at` on; returns where the value ends, or -1 where it goes on in the next chunk. */
  read(chunk: Buffer, at: number): number {
    const end = this.#scan(chunk, at)
    const part = chunk.subarray(at, end === -1 ? chunk.length : end)
    this.#size += part.length
    if (this.isKept && this.#size <= this.#limit) this.#parts.push(part)
    return end
  }

  #scan(chunk: Buffer, from: number): number {
    for (let at = from; at < chunk.length; at += 1) {
      const byte = chunk[at] as number
      if (this.#isString) {
        if (this.#isEscaped) this.#isEscaped = false
        else if (byte === BACKSLASH) this.#isEscaped = true
        else if (byte === QUOTE) {
          this.#isString = false
          if (this.#depth === 0) return at + 1
        }
      } else if (this.#isScalar) {
        if (endsScalar(byte)) return at
      } else if (byte === QUOTE) this.#isString = true
      else if (byte === OPEN_ARRAY || byte === OPEN_OBJECT)
        this.#deepest = Math.max(this.#deepest, (this.#depth += 1))
      else if (byte === CLOSE_ARRAY || byte === CLOSE_OBJECT) {
        this.#depth -= 1
        if (this.#depth === 0) return at + 1
      } else if (!this.#isBegun) this.#isScalar = true
      this.#isBegun = true
    }
    return -1
  }

  get size(): number {
    return this.#size
  }

  /** The bytes, or why they are not parsed. */
  get content(): { readonly bytes: Buffer; readonly fault?: string } {
    const bytes = Buffer.concat(this.#parts)
    if (this.#size > this.#limit) return { bytes, fault: `larger than ${this.#limit} bytes` }
    if (this.#deepest > MAX_DEPTH) return { bytes, fault: `nested deeper than ${MAX_DEPTH} levels` }
    return isUtf8(bytes) ? { bytes } : { bytes, fault: 'not UTF-8' }
  }
}

class Reader {
  readonly #choose: (path: JsonPath) => Choice
  readonly #options: SliceOptions
  readonly #frames: Frame[] = []
  #expects: Expects = 'value'
  #span: Span | undefined
  #isKey = false
  #document = 0
  /** Bytes before the current chunk. */
  #before = 0

  constructor(choose: (path: JsonPath) => Choice, options: SliceOptions) {
    this.#choose = choose
    this.#options = options
  }

  *read(chunk: Buffer): Generator<Slice> {
    for (let at = 0; at < chunk.length;) {
      if (this.#span === undefined) {
        this.#step(chunk[at] as number, this.#before + at)
        if (this.#span === undefined) {
          at += 1
          continue
        }
      }
      const span: Span = this.#span
      const end = span.read(chunk, at)
      if (end === -1) break
      at = end
      this.#span = undefined
      const slice = this.#finish(span, this.#before + at)
      if (slice !== undefined) yield slice
    }
    this.#before += chunk.length
  }

  /** Throws when the document ends too early. */
  end(): void {
    if (this.#span !== undefined || this.#frames.length > 0 || this.#expects !== 'end')
      throw new NotJson(this.#before)
  }

  /** Reads one byte between values, or begins the span of a value. */
  #step(byte: number, offset: number): void {
    if (isBlank(byte) || isBom(byte, offset)) return
    const frame = this.#frames.at(-1)
    const expects = this.#expects
    const closes = frame?.isArray === true ? CLOSE_ARRAY : CLOSE_OBJECT
    if (frame !== undefined && byte === closes && (expects === 'first' || expects === 'comma')) {
      this.#frames.pop()
      this.#expects = this.#frames.length === 0 ? 'end' : 'comma'
    } else if (expects === 'comma' && byte === COMMA && frame !== undefined) {
      if (frame.isArray) frame.key = (frame.key as number) + 1
      this.#expects = frame.isArray ? 'value' : 'key'
    } else if (expects === 'colon' && byte === COLON) this.#expects = 'value'
    else if (expects === 'value' || (expects === 'first' && frame?.isArray === true))
      this.#begin(byte, offset)
    else if (expects === 'end' && this.#options.many === true) {
      this.#document += 1
      this.#begin(byte, offset)
    } else if ((expects === 'key' || expects === 'first') && byte === QUOTE) {
      this.#isKey = true
      this.#span = new Span(true, MAX_KEY_BYTES)
    } else throw new NotJson(offset)
  }

  #begin(byte: number, offset: number): void {
    if (byte === COMMA || byte === COLON || byte === CLOSE_ARRAY || byte === CLOSE_OBJECT)
      throw new NotJson(offset)
    const isArray = byte === OPEN_ARRAY
    const choice = this.#choose(this.#path())
    if (choice === 'enter' && (isArray || byte === OPEN_OBJECT)) {
      this.#frames.push({ isArray, key: isArray ? 0 : '' })
      this.#expects = 'first'
    } else this.#span = new Span(choice === 'take', this.#options.limit)
  }

  #finish(span: Span, offset: number): Slice | undefined {
    if (this.#isKey) {
      this.#isKey = false
      const frame = this.#frames.at(-1)
      const { bytes, fault } = span.content
      if (frame === undefined || fault !== undefined) throw new NotJson(offset)
      frame.key = String(parse(bytes, offset))
      this.#expects = 'colon'
      return undefined
    }
    this.#expects = this.#frames.length === 0 ? 'end' : 'comma'
    if (!span.isKept) return undefined
    const { bytes, fault } = span.content
    const value = fault === undefined ? parse(bytes, offset) : undefined
    return { document: this.#document, path: this.#path(), bytes: span.size, value, fault }
  }

  #path(): JsonPath {
    return this.#frames.map(({ key }) => key)
  }
}

function parse(bytes: Buffer, offset: number): unknown {
  try {
    return JSON.parse(bytes.toString())
  } catch {
    throw new NotJson(offset)
  }
}

interface SliceOptions {
  /** Bytes of one value. */
  readonly limit: number
  /** Whether further documents may follow the first. */
  readonly many?: boolean | undefined
}

/** Yields the values that `choose` takes, in the order of the document. Throws `NotJson`. */
export async function* readSlices(
  chunks: AsyncIterable<Uint8Array>,
  choose: (path: JsonPath) => Choice,
  options: SliceOptions,
): AsyncGenerator<Slice> {
  const reader = new Reader(choose, options)
  for await (const chunk of chunks)
    yield* reader.read(Buffer.from(chunk.buffer, chunk.byteOffset, chunk.length))
  reader.end()
}
