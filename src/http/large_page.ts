import { Readable } from 'node:stream'
import { unavailable } from './problems.ts'

/** Bytes of JSON up to which a page is written at once, with its tag. */
const MAX_WHOLE_BYTES = 4 * 1024 * 1024
const CHUNK_BYTES = 64 * 1024
/** How many large pages are held over all answers. */
const MAX_LARGE_PAGES = 16
/** Milliseconds in which a client must take a chunk. */
export const STALL_MS = 30_000

let underWay = 0

/** The JSON of a page: as text, or as a stream where it is large. */
export type PageText = string | ((stallMs: number) => Readable)

/** Writes a page row by row. What is large is written as the client reads it, and never stands in memory as a whole. */
export function pageText(rows: readonly unknown[], write: (row: unknown) => string): PageText {
  const written: string[] = []
  let bytes = 0
  for (const row of rows) {
    const text = write(row)
    written.push(text)
    bytes += Buffer.byteLength(text)
    if (bytes > MAX_WHOLE_BYTES) return (stallMs) => streamOf(chunksOf(written, rows, write), stallMs)
  }
  return `[${written.join(',')}]`
}

function* chunksOf(
  written: string[],
  rows: readonly unknown[],
  write: (row: unknown) => string,
): Generator<Buffer> {
  for (const [index, row] of rows.entries()) {
    const text = written[index] ?? write(row)
    written[index] = ''
    const bytes = Buffer.from((index === 0 ? '[' : ',') + text)
    for (let at = 0; at < bytes.length; at += CHUNK_BYTES) yield bytes.subarray(at, at + CHUNK_BYTES)
  }
  yield Buffer.from(']')
}

/**
 * A stream of chunks, each made when the client has taken the one before; destroyed when it takes none for `stallMs`.
 * Throws the Problem 503 while too many are under way.
 */
function streamOf(chunks: Generator<Buffer>, stallMs: number): Readable {
  if (underWay >= MAX_LARGE_PAGES) throw unavailable()
  underWay += 1
  const giveUp = (): void =>
    void stream.destroy(Object.assign(new Error('a client does not read its answer'), { code: 'ECONNRESET' }))
  const clock = setTimeout(giveUp, stallMs)
  const stream = new Readable({
    highWaterMark: CHUNK_BYTES,
    read() {
      clock.refresh()
      const { done, value } = chunks.next()
      this.push(done === true ? null : value)
    },
    destroy(error, callback) {
      clearTimeout(clock)
      underWay -= 1
      callback(error)
    },
  })
  return stream
}
