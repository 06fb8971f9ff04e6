import { createHash } from 'node:crypto'
import { closeSync, openSync } from 'node:fs'
import { unlink } from 'node:fs/promises'
import { join } from 'node:path'
import { crc32 } from 'node:zlib'
import { hasCode, makeDirectory, placeFile, syncFile, temporaryName, writeAll } from '../durable.ts'
import { GitError } from '../errors.ts'
import { compress, type NewObject, type ObjectType } from './objects.ts'
import { createYield } from '../event_loop.ts'

const largestPack = 2 ** 31 - 1
const typeNumbers: Readonly<Record<ObjectType, number>> = { commit: 1, tree: 2, blob: 3, tag: 4 }
const fileMode = 0o444

interface Packed {
  readonly id: string
  readonly offset: number
  readonly crc: number
}

interface Files {
  readonly pack: string
  readonly index: string
  readonly opened: number[]
}

/**
 * Writes objects as one pack with its index. When it returns the disk has been asked for their bytes; when `placed`
 * resolves these are durable and git can read them, though their names are not durable yet. Throws GitError `too_large`
 * above 2 GiB.
 */
export async function storePack(
  packDirectory: string,
  objects: readonly NewObject[],
): Promise<{ readonly placed: Promise<void> }> {
  const files: Files = {
    pack: join(packDirectory, temporaryName('tmp_pack')),
    index: join(packDirectory, temporaryName('tmp_idx')),
    opened: [],
  }
  try {
    const file = await openIn(packDirectory, files.pack)
    files.opened.push(file)
    const packed: Packed[] = []
    const trailer = await writePack(file, objects, packed)
    const indexFile = openSync(files.index, 'wx', fileMode)
    files.opened.push(indexFile)
    await writeAll(indexFile, indexBytes(packed, trailer))
    return { placed: place(files, join(packDirectory, `pack-${trailer.toString('hex')}`)) }
  } catch (error) {
    await abandon(files)
    throw error
  }
}

/** The disk is asked for both at once, and only when both are there: a file that is made while it writes may wait for it. */
async function place(files: Files, name: string): Promise<void> {
  const synced = await Promise.allSettled(files.opened.map((file) => syncFile(file)))
  const failed = synced.find((part) => part.status === 'rejected')
  if (failed !== undefined) {
    await abandon(files)
    throw failed.reason
  }
  for (const file of files.opened) closeSync(file)
  // git looks for indexes: the pack must be there before its own. Neither has its name earlier, as git 2.39 drops a pack
  // without an index, or fails over it, when it puts all packs into one.
  await placeFile(files.pack, `${name}.pack`)
  await placeFile(files.index, `${name}.idx`)
}

async function abandon({ pack, index, opened }: Files): Promise<void> {
  for (const file of opened) closeSync(file)
  await Promise.all([pack, index].map((path) => unlink(path).catch(() => undefined)))
}

async function openIn(directory: string, file: string): Promise<number> {
  try {
    return openSync(file, 'wx', fileMode)
  } catch (error) {
    if (!hasCode(error, 'ENOENT')) throw error
    await makeDirectory(directory)
    return openSync(file, 'wx', fileMode)
  }
}

async function writePack(file: number, objects: readonly NewObject[], packed: Packed[]): Promise<Buffer> {
  const hash = createHash('sha1')
  let unwritten: Buffer[] = []
  let offset = 0
  let waiting = 0
  const put = (bytes: Buffer): void => {
    hash.update(bytes)
    unwritten.push(bytes)
    offset += bytes.length
    waiting += bytes.length
  }
  const flush = async (): Promise<void> => {
    await writeAll(file, Buffer.concat(unwritten))
    unwritten = []
    waiting = 0
  }
  const header = Buffer.from('PACK\0\0\0\x02\0\0\0\0')
  header.writeUInt32BE(objects.length, 8)
  put(header)
  const rest = createYield()
  for (const { id, type, body } of objects) {
    const [head, compressed] = [entryHead(type, body.length), await compress(body, type)]
    if (offset + compressed.length > largestPack) throw new GitError('too_large', 'A pack has at most 2 GiB')
    packed.push({ id, offset, crc: crc32(compressed, crc32(head)) })
    put(head)
    put(compressed)
    if (waiting > 1024 * 1024) await flush()
    await rest()
  }
  const trailer = hash.digest()
  unwritten.push(trailer)
  await flush()
  return trailer
}

/** Type and size as a pack's entry starts: four bits of the size, then seven at a time. */
function entryHead(type: ObjectType, size: number): Buffer {
  const bytes = [(typeNumbers[type] << 4) | (size & 15)]
  for (let rest = Math.floor(size / 16); rest > 0; rest = Math.floor(rest / 128)) {
    bytes.push((bytes.pop() ?? 0) | 128, rest & 127)
  }
  return Buffer.from(bytes)
}

/** The second version of a pack's index. */
function indexBytes(packed: readonly Packed[], trailer: Buffer): Buffer {
  const sorted = packed.toSorted((a, b) => (a.id < b.id ? -1 : 1))
  const count = sorted.length
  const bytes = Buffer.alloc(8 + 1024 + count * 28 + 40)
  bytes.write('\xfftOc\0\0\0\x02', 'latin1')
  for (const { id } of sorted) {
    const slot = 8 + 4 * Number.parseInt(id.slice(0, 2), 16)
    bytes.writeUInt32BE(bytes.readUInt32BE(slot) + 1, slot)
  }
  for (let slot = 12; slot < 8 + 1024; slot += 4) {
    bytes.writeUInt32BE(bytes.readUInt32BE(slot) + bytes.readUInt32BE(slot - 4), slot)
  }
  const [ids, crcs, offsets] = [1032, 1032 + 20 * count, 1032 + 24 * count]
  for (const [index, { id, offset, crc }] of sorted.entries()) {
    bytes.write(id, ids + 20 * index, 'hex')
    bytes.writeUInt32BE(crc, crcs + 4 * index)
    bytes.writeUInt32BE(offset, offsets + 4 * index)
  }
  trailer.copy(bytes, bytes.length - 40)
  createHash('sha1')
    .update(bytes.subarray(0, -20))
    .digest()
    .copy(bytes, bytes.length - 20)
  return bytes
}
