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
