import { Transform, pipeline, type Readable } from 'node:stream'
import { createInflateRaw } from 'node:zlib'
import type { Range } from './storage.ts'

/** An archive that is read by ranges. */
export interface ZipSource {
  /** Bytes. */
  readonly size: number
  readonly read: (range: Range) => Promise<Readable>
}

/** One file of an archive. */
export interface ZipEntry {
  /** Bytes of the file, and of its compressed form. */
  readonly size: number
  readonly compressed: number
  /** 0 for stored, 8 for deflated. */
  readonly method: number
  /** Of the local header. */
  readonly offset: number
}

const END = 0x06054b50
const END_64 = 0x06064b50
const LOCATOR_64 = 0x07064b50
const DIRECTORY_ENTRY = 0x02014b50
const LOCAL_HEADER = 0x04034b50
const END_BYTES = 22
const MAX_COMMENT_BYTES = 65_535
/** Bytes of a central directory that is read: some hundred thousand files. */
const MAX_DIRECTORY_BYTES = 32 * 1024 * 1024
const FULL_32 = 0xff_ff_ff_ff

async function readBytes({ read, size }: ZipSource, start: number, length: number): Promise<Buffer> {
  if (length <= 0 || start < 0 || start + length > size) return Buffer.alloc(0)
  const parts: Buffer[] = []
  for await (const part of await read({ start, end: start + length - 1 })) parts.push(part as Buffer)
  return Buffer.concat(parts)
}

/** The central directory; undefined where the bytes are no archive, or its directory is too large. */
async function directoryOf(source: ZipSource): Promise<Buffer | undefined> {
  const length = Math.min(source.size, END_BYTES + MAX_COMMENT_BYTES + 20)
  const from = source.size - length
  const tail = await readBytes(source, from, length)
  let at = tail.length - END_BYTES
  while (at >= 0 && tail.readUInt32LE(at) !== END) at -= 1
  if (at < 0) return undefined
  let [bytes, start] = [tail.readUInt32LE(at + 12), tail.readUInt32LE(at + 16)]
  if ((bytes === FULL_32 || start === FULL_32) && at >= 20 && tail.readUInt32LE(at - 20) === LOCATOR_64) {
    const end = await readBytes(source, Number(tail.readBigUInt64LE(at - 12)), 56)
    if (end.length < 56 || end.readUInt32LE(0) !== END_64) return undefined
    bytes = Number(end.readBigUInt64LE(40))
    start = Number(end.readBigUInt64LE(48))
  }
  if (bytes > MAX_DIRECTORY_BYTES || start + bytes > source.size) return undefined
  return readBytes(source, start, bytes)
}

/** Finds a file by its exact path; directories are no files. */
export async function findZipEntry(source: ZipSource, path: string): Promise<ZipEntry | undefined> {
  const directory = await directoryOf(source)
  if (directory === undefined || path.endsWith('/')) return undefined
  const wanted = Buffer.from(path)
  for (let at = 0; at + 46 <= directory.length;) {
    if (directory.readUInt32LE(at) !== DIRECTORY_ENTRY) return undefined
    const name = directory.readUInt16LE(at + 28)
    const extra = directory.readUInt16LE(at + 30)
    const comment = directory.readUInt16LE(at + 32)
    const from = at + 46
    if (name === wanted.length && directory.subarray(from, from + name).equals(wanted))
      return entryAt(directory.subarray(at, from + name + extra), name)
    at = from + name + extra + comment
  }
  return undefined
}

function entryAt(record: Buffer, nameBytes: number): ZipEntry | undefined {
  const method = record.readUInt16LE(10)
  const isEncrypted = (record.readUInt16LE(8) & 1) !== 0
  if (isEncrypted || (method !== 0 && method !== 8)) return undefined
  const wide = wideFields(record.subarray(46 + nameBytes))
  const field = (at: number): number => {
    const value = record.readUInt32LE(at)
    return value === FULL_32 ? (wide.shift() ?? value) : value
  }
  // In this order: the wide fields stand for those that are full.
  const size = field(24)
  const compressed = field(20)
  return { method, size, compressed, offset: field(42) }
}

/** The 64-bit fields of an entry. */
function wideFields(extra: Buffer): number[] {
  for (let at = 0; at + 4 <= extra.length;) {
    const length = extra.readUInt16LE(at + 2)
    if (extra.readUInt16LE(at) === 1) {
      const fields = extra.subarray(at + 4, at + 4 + length)
      return Array.from({ length: Math.floor(fields.length / 8) }, (_, n) =>
        Number(fields.readBigUInt64LE(n * 8)),
      )
    }
    at += 4 + length
  }
  return []
}

/** The bytes of a file, as they are read. The stream fails where they are not as many as the directory says. */
export async function openZipEntry(source: ZipSource, entry: ZipEntry): Promise<Readable> {
  const header = await readBytes(source, entry.offset, 30)
  if (header.length < 30 || header.readUInt32LE(0) !== LOCAL_HEADER)
    throw new Error('a local header is missing')
  const start = entry.offset + 30 + header.readUInt16LE(26) + header.readUInt16LE(28)
  const exact = exactly(entry.size)
  if (entry.compressed === 0) {
    exact.end()
    return exact
  }
  const bytes = await source.read({ start, end: start + entry.compressed - 1 })
  const ignore = (): void => {}
  // A fault destroys the stream that is answered: its reader hears of it there.
  return entry.method === 0
    ? pipeline(bytes, exact, ignore)
    : pipeline(bytes, createInflateRaw(), exact, ignore)
}

/** Lets exactly so many bytes pass. */
function exactly(size: number): Transform {
  let passed = 0
  return new Transform({
    transform: (chunk: Buffer, _encoding, done) => {
      passed += chunk.length
      if (passed > size) done(new Error('a file of an archive is longer than its directory says'))
      else done(null, chunk)
    },
    flush: (done) =>
      done(passed === size ? null : new Error('a file of an archive is shorter than its directory says')),
  })
}
