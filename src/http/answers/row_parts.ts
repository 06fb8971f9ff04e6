import { randomUUID } from 'node:crypto'

/** Code units of a text that is written at once: JSON may take six bytes for each. */
const MAX_PART = 10_000

// Stands for a long text while its row is written; no caller learns it.
const MARK = randomUUID()
const MARKS = new RegExp(`${MARK}:(\\d+)`)

/** The JSON of a record in parts of at most 60 kB: what `write` gives, with its long texts left out and written after it. */
export function* rowParts(row: unknown, write: (row: unknown) => string): Generator<string> {
  const long: string[] = []
  const texts = write(withMarks(row, long)).split(MARKS)
  for (const [index, text] of texts.entries())
    if (index % 2 === 0) yield* partsOf(text)
    else for (const part of partsOf(long[Number(text)] ?? '')) yield JSON.stringify(part).slice(1, -1)
}

/** A text in parts, none of which ends inside a character. */
export function* partsOf(text: string): Generator<string> {
  for (let at = 0; at < text.length;) {
    const end = at + MAX_PART
    const isSplit = (text.charCodeAt(end - 1) & 0xfc00) === 0xd800
    const next = isSplit ? end + 1 : end
    yield text.slice(at, next)
    at = next
  }
}

/** A copy of plain values in which marks stand for long texts. */
function withMarks(value: unknown, long: string[]): unknown {
  if (typeof value === 'string') return value.length <= MAX_PART ? value : `${MARK}:${long.push(value) - 1}`
  if (Array.isArray(value)) return value.map((each) => withMarks(each, long))
  if (typeof value !== 'object' || value === null || value instanceof Date) return value
  return Object.fromEntries(Object.entries(value).map(([name, each]) => [name, withMarks(each, long)]))
}
