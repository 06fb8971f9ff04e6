/** One item of an envelope. */
export interface Item {
  readonly type: string
  readonly payload: Buffer
}

/** Bytes that are no envelope. */
export class BadEnvelope extends Error {}

const NEWLINE = 0x0a
/** Items of one envelope; an SDK sends a few. */
const MAX_ITEMS = 100
/** Bytes of a header line. */
const MAX_HEADER = 16 * 1024

/**
 * Takes an envelope apart: a header line, then for each item a header line and a payload of the length that the header
 * names, or up to the end of its line. Throws BadEnvelope.
 */
export function readEnvelope(bytes: Buffer): Item[] {
  let at = 0
  const line = (): Buffer => {
    const end = bytes.indexOf(NEWLINE, at)
    const found = bytes.subarray(at, end === -1 ? bytes.length : end)
    at = end === -1 ? bytes.length : end + 1
    return found
  }
  readHeader(line())
  const items: Item[] = []
  while (at < bytes.length) {
    const header = line()
    if (header.length === 0) continue
    if (items.length === MAX_ITEMS) throw new BadEnvelope('too many items')
    const { type, length } = readHeader(header)
    if (typeof type !== 'string') throw new BadEnvelope('an item without a type')
    items.push({ type, payload: typeof length === 'number' ? take(length) : line() })
  }
  return items

  function take(length: number): Buffer {
    if (!Number.isSafeInteger(length) || length < 0 || at + length > bytes.length)
      throw new BadEnvelope('an item with a wrong length')
    const payload = bytes.subarray(at, at + length)
    at += length
    if (bytes[at] === NEWLINE) at += 1
    return payload
  }
}

function readHeader(line: Buffer): Readonly<Record<string, unknown>> {
  if (line.length > MAX_HEADER) throw new BadEnvelope('a header that is too long')
  try {
    const value: unknown = JSON.parse(line.toString())
    if (typeof value === 'object' && value !== null) return value as Record<string, unknown>
  } catch {
    // Falls through: a header has to be JSON.
  }
  throw new BadEnvelope('a header that is no object')
}
