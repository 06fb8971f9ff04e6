import type { FileHandle } from 'node:fs/promises'
import { isUtf8 } from 'node:buffer'
import { setImmediate as turn } from 'node:timers/promises'
import { badBody } from '../problems.ts'

/** A text of a JSON body that lies on disk as it was sent; it can be read until the request is answered. */
export class LongText {
  /** Bytes as sent, escapes included: at least as many as the text has. */
  readonly length: number
  readonly #file: FileHandle
  readonly #start: number

  constructor(file: FileHandle, start: number, length: number) {
    this.#file = file
    this.#start = start
    this.length = length
  }

  /** The bytes as sent, escapes included, in chunks. */
  async *chunks(): AsyncGenerator<Uint8Array> {
    for (let at = 0; at < this.length;) {
      const bytes = Buffer.allocUnsafe(Math.min(BREATH, this.length - at))
      const { bytesRead } = await this.#file.read(bytes, 0, bytes.length, this.#start + at)
      if (bytesRead === 0) throw new Error('a long text ended early')
      at += bytesRead
      yield bytes.subarray(0, bytesRead)
    }
  }

  /** The text in UTF-8. Throws the Problem of a broken body when it is none. */
  async bytes(): Promise<Buffer> {
    const bytes = Buffer.allocUnsafe(this.length)
    let read = 0
    while (read < this.length) {
      const part = await this.#file.read(bytes, read, this.length - read, this.#start + read)
      if (part.bytesRead === 0) throw new Error('a long text ended early')
      read += part.bytesRead
    }
    return unescaped(bytes)
  }
}

/** The long texts of one body; `mark` and a position in `found` stand for one in the JSON. */
export interface LongTexts {
  readonly mark: string
  readonly found: LongText[]
}

const BACKSLASH = 0x5c
const U = 0x75
const SIMPLE = new Map([
  [0x22, 0x22],
  [0x5c, 0x5c],
  [0x2f, 0x2f],
  [0x62, 8],
  [0x66, 12],
  [0x6e, 10],
  [0x72, 13],
  [0x74, 9],
])

/** Bytes that are gone through at a time, so that others get their turn. */
const BREATH = 1024 * 1024

/**
 * Resolves the escapes of a JSON text in place: what comes out is never longer. Control characters were refused as they
 * came.
 */
async function unescaped(bytes: Buffer): Promise<Buffer> {
  const first = bytes.indexOf(BACKSLASH)
  if (first === -1) return checked(bytes)
  let end = first
  let rested = first
  for (let at = first; at < bytes.length;) {
    if (at - rested > BREATH) {
      await turn()
      rested = at
    }
    const byte = bytes[at] ?? 0
    if (byte !== BACKSLASH) {
      bytes[end] = byte
      end += 1
      at += 1
      continue
    }
    const kind = bytes[at + 1] ?? 0
    const simple = SIMPLE.get(kind)
    if (simple !== undefined) {
      bytes[end] = simple
      end += 1
      at += 2
    } else if (kind === U) {
      const { text, used } = codePoint(bytes, at)
      end += bytes.write(text, end, 'utf8')
      at += used
    } else throw badBody()
  }
  return checked(bytes.subarray(0, end))
}

/** Reads `\u0041` or a pair of them that makes one character. */
function codePoint(bytes: Buffer, at: number): { text: string; used: number } {
  const one = unit(bytes, at)
  if (one < 0xd8_00 || one > 0xdf_ff) return { text: String.fromCharCode(one), used: 6 }
  const text = String.fromCharCode(one, unit(bytes, at + 6))
  if (!text.isWellFormed()) throw badBody()
  return { text, used: 12 }
}

function unit(bytes: Buffer, at: number): number {
  const digits = bytes.toString('latin1', at, at + 6)
  if (!/^\\u[0-9a-fA-F]{4}$/.test(digits)) throw badBody()
  return Number.parseInt(digits.slice(2), 16)
}

function checked(bytes: Buffer): Buffer {
  if (!isUtf8(bytes)) throw badBody()
  return bytes
}
