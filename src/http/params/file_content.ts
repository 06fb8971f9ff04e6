import { setImmediate as turn } from 'node:timers/promises'
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

/** Bytes gone through at a time, so that others get their turn: a multiple of four. */
const STEP = 4 * 256 * 1024

/**
 * Decodes base64 in its plain alphabet. White space between is passed over, as mail programs break lines, and padding
 * may be left out. Undefined for anything else: half a file is worse than none.
 */
export async function decodeBase64(bytes: Buffer): Promise<Buffer | undefined> {
  const text = await withoutSpace(bytes)
  const body = text.subarray(0, text.length - padding(text))
  if (body.length % 4 === 1 || (text.length > body.length && text.length % 4 !== 0)) return undefined
  const decoded = Buffer.allocUnsafe(Math.floor((body.length * 3) / 4))
  for (let at = 0; at < body.length; at += STEP) {
    if (at > 0) await turn()
    const part = body.toString('latin1', at, Math.min(at + STEP, body.length))
    if (!/^[A-Za-z0-9+/]*$/.test(part)) return undefined
    decoded.write(part, (at / 4) * 3, 'base64')
  }
  return decoded
}

const EQUALS = 0x3d
const padding = (text: Buffer): number => (text.at(-1) !== EQUALS ? 0 : text.at(-2) === EQUALS ? 2 : 1)

const isSpace = (byte: number): boolean => byte === 0x20 || (byte >= 9 && byte <= 13)

/** The same bytes, moved together where there was space between them. */
async function withoutSpace(bytes: Buffer): Promise<Buffer> {
  let end = 0
  for (let at = 0; at < bytes.length; at += 1) {
    if (at > 0 && at % STEP === 0) await turn()
    const byte = bytes[at] ?? 0
    if (isSpace(byte)) continue
    bytes[end] = byte
    end += 1
  }
  return bytes.subarray(0, end)
}
