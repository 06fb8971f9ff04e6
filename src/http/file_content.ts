import { LongText } from './long_text.ts'

/** The bytes that a text parameter stands for; undefined when it says that it is base64 and is not. */
export async function fileContent(
  content: string | LongText | null | undefined,
  encoding: string | undefined,
): Promise<Buffer | undefined> {
  if (content === undefined || content === null) return Buffer.alloc(0)
  const bytes = content instanceof LongText ? await content.bytes() : Buffer.from(content)
  return encoding === 'base64' ? decodeBase64(bytes) : bytes
}

/** Bytes decoded at a time: a multiple of four. */
const STEP = 3 * 256 * 1024

/**
 * Decodes base64 in its plain alphabet. White space between is passed over, as mail programs break lines, and padding
 * may be left out. Undefined for anything else: half a file is worse than none.
 */
export function decodeBase64(bytes: Buffer): Buffer | undefined {
  const text = withoutSpace(bytes)
  const body = text.subarray(0, text.length - padding(text))
  if (body.length % 4 === 1 || (text.length > body.length && text.length % 4 !== 0)) return undefined
  const parts: Buffer[] = []
  for (let at = 0; at < body.length; at += STEP) {
    const part = body.toString('latin1', at, Math.min(at + STEP, body.length))
    if (!/^[A-Za-z0-9+/]*$/.test(part)) return undefined
    parts.push(Buffer.from(part, 'base64'))
  }
  return parts.length === 1 && parts[0] !== undefined ? parts[0] : Buffer.concat(parts)
}

const EQUALS = 0x3d
const padding = (text: Buffer): number => (text.at(-1) !== EQUALS ? 0 : text.at(-2) === EQUALS ? 2 : 1)

const isSpace = (byte: number | undefined): boolean =>
  byte === 0x20 || (byte !== undefined && byte >= 9 && byte <= 13)

/** The same bytes where there is no space in them; else those between. */
function withoutSpace(bytes: Buffer): Buffer {
  let end = 0
  for (let at = 0; at < bytes.length; at += 1) {
    if (isSpace(bytes[at])) continue
    if (end !== at) bytes[end] = bytes[at] ?? 0
    end += 1
  }
  return bytes.subarray(0, end)
}
