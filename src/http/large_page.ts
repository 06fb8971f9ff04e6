import { Readable } from 'node:stream'
import { unavailable } from './problems.ts'
import { inTurn } from './turns.ts'

/** Bytes of JSON up to which a page is written at once, with its tag. */
const MAX_WHOLE_BYTES = 4 * 1024 * 1024
/** Code units of a part of a text. */
const CHUNK_LENGTH = 64 * 1024
/** How many large pages are held over all answers. */
const MAX_LARGE_PAGES = 16
/** Milliseconds in which a client must take a chunk. */
export const STALL_MS = 30_000

let underWay = 0

/** The JSON of a page: as text, or as a stream where it is large. */
export type PageText = string | ((stallMs: number) => Readable)

/**
 * Writes a page row by row. A large one is written as the client reads it, and never stands in memory as a whole: `rows`
 * are let go of one by one.
 */
export function pageText(rows: readonly unknown[], write: (row: unknown) => string): PageText {
  const written: string[] = []
  let bytes = 0
  for (const row of rows) {
    const text = write(row)
    written.push(text)
    bytes += Buffer.byteLength(text)
    if (bytes > MAX_WHOLE_BYTES)
      return (stallMs) => streamOf(chunksOf(written, rows.slice(written.length), write), stallMs)
  }
  return `[${written.join(',')}]`
}

function* chunksOf(written: string[], rest: unknown[], write: (row: unknown) => string): Generator<Buffer> {
  let separator = '['
  while (written.length > 0 || rest.length > 0) {
    const text = written.length > 0 ? (written.shift() ?? '') : write(rest.shift())
    yield Buffer.from(separator)
    yield* partsOf(text)
    separator = ','
  }
  yield Buffer.from(']')
}

/** A text in parts, none of which ends inside a character. */
function* partsOf(text: string): Generator<Buffer> {
  for (let at = 0; at < text.length;) {
    const end = at + CHUNK_LENGTH
    const isSplit = (text.charCodeAt(end - 1) & 0xfc00) === 0xd800
    const next = isSplit ? end + 1 : end
    yield Buffer.from(text.slice(at, next))
    at = next
  }
}

/**
 * A stream of chunks, each made in a turn of its own when the client has taken the one before; destroyed when it takes none for `stallMs`.
 * Throws the Problem 503 while too many are under way.
 */
function streamOf(chunks: Generator<Buffer>, stallMs: number): Readable {
  if (underWay >= MAX_LARGE_PAGES) throw unavailable()
  underWay += 1
  const giveUp = (): void =>
    void stream.destroy(Object.assign(new Error('a client does not read its answer'), { code: 'ECONNRESET' }))
  const clock = setTimeout(giveUp, stallMs)
  const stream = new Readable({
    highWaterMark: CHUNK_LENGTH,
    read() {
      clock.refresh()
      inTurn(() => {
        if (this.destroyed) return
        const { done, value } = chunks.next()
        this.push(done === true ? null : value)
      })
    },
    destroy(error, callback) {
      clearTimeout(clock)
      underWay -= 1
      callback(error)
    },
  })
  return stream
}
