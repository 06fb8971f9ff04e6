import { Readable } from 'node:stream'
import { unavailable } from '../problems.ts'
import { partsOf, rowParts } from './row_parts.ts'
import { inOwnLoopTurn } from './loop_turns.ts'

/** Bytes of JSON up to which a page is written at once, with its tag. */
const MAX_WHOLE_BYTES = 4 * 1024 * 1024
/** Bytes that a stream keeps ready. */
const BUFFERED_BYTES = 64 * 1024
/** How many large pages are held over all answers. */
const MAX_LARGE_PAGES = 16
/** Milliseconds in which a client must take a chunk. */
export const STALL_MS = 30_000

let underWay = 0

type Write = (row: unknown) => string
/** JSON: as text, or as a stream where it is large. */
export type AnswerText = string | ((stallMs: number) => Readable)

/**
 * Writes a page row by row. A large one is written as the client reads it, and never stands in memory as a whole: its rows
 * are let go of one by one.
 */
export function pageText(rows: readonly unknown[], write: Write, isLarge: boolean): AnswerText {
  const written: string[] = []
  let bytes = 0
  if (!isLarge)
    for (const row of rows) {
      const text = write(row)
      written.push(text)
      bytes += Buffer.byteLength(text)
      if (bytes > MAX_WHOLE_BYTES) break
    }
  if (!isLarge && bytes <= MAX_WHOLE_BYTES) return `[${written.join(',')}]`
  return (stallMs) => streamOf(pageParts(written, rows.slice(written.length), write), stallMs)
}

/** Writes a record; a large one as the client reads it. */
export const recordText = (record: unknown, write: Write, isLarge: boolean): AnswerText =>
  isLarge ? (stallMs) => streamOf(rowParts(record, write), stallMs) : write(record)

function* pageParts(written: string[], rest: unknown[], write: Write): Generator<string> {
  let separator = '['
  while (written.length > 0 || rest.length > 0) {
    yield separator
    yield* written.length > 0 ? partsOf(written.shift() ?? '') : rowParts(rest.shift(), write)
    separator = ','
  }
  yield separator === '[' ? '[]' : ']'
}

/**
 * A stream of chunks, each made in a turn of its own when the client has taken the one before; destroyed when it takes none for `stallMs`.
 * Throws the Problem 503 while too many are under way.
 */
function streamOf(chunks: Generator<string>, stallMs: number): Readable {
  if (underWay >= MAX_LARGE_PAGES) throw unavailable()
  underWay += 1
  const giveUp = (): void =>
    void stream.destroy(Object.assign(new Error('a client does not read its answer'), { code: 'ECONNRESET' }))
  const clock = setTimeout(giveUp, stallMs)
  const stream = new Readable({
    highWaterMark: BUFFERED_BYTES,
    read() {
      clock.refresh()
      inOwnLoopTurn(() => {
        if (this.destroyed) return
        try {
          const { done, value } = chunks.next()
          this.push(done === true ? null : Buffer.from(value))
        } catch (error) {
          this.destroy(error as Error)
        }
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
