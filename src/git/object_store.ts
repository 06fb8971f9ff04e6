import { createHash } from 'node:crypto'
import { closeSync, existsSync, openSync, renameSync, utimesSync } from 'node:fs'
import { mkdir, readFile, unlink } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { crc32, inflate } from 'node:zlib'
import {
  hasCode,
  makeDirectory,
  syncDirectory,
  syncFile,
  temporaryName,
  writeAll,
  writeNew,
} from './durable.ts'
import { GitError } from './errors.ts'
import { compress, readType, type NewObject, type ObjectType } from './objects.ts'
import { breather } from './turns.ts'

/** Objects up to this many are stored as a file each, more as one pack. */
const looseObjects = 10
const largestPack = 2 ** 31 - 1
const typeNumbers: Readonly<Record<ObjectType, number>> = { commit: 1, tree: 2, blob: 3, tag: 4 }
const fileMode = 0o444
const directoryAttempts = 20
const decompress = promisify(inflate)

/** Stores objects like storeAhead; when it returns they are durable. */
export async function storeObjects(objectDirectory: string, objects: readonly NewObject[]): Promise<void> {
  const { durable } = await storeAhead(objectDirectory, objects)
  await durable
}

/**
 * Stores objects below `objectDirectory`. When it returns they can be read and their bytes are durable; their names are
 * when `durable` resolves. One that has a file already is not written again but given the present as its time, and one
 * that is only in a pack gets a file: of an object that nothing reaches clean-up looks at the age, and what was asked
 * for here is never about to go.
 */
export async function storeAhead(
  objectDirectory: string,
  objects: readonly NewObject[],
): Promise<{ readonly durable: Promise<void> }> {
  const distinct = [...new Map(objects.map((object) => [object.id, object])).values()]
  const pack = join(objectDirectory, 'pack')
  if (distinct.length > looseObjects) {
    await storePack(pack, distinct)
    return { durable: syncDirectory(pack) }
  }
  // All at once, so that the disk is asked once for many.
  const files = await Promise.all(distinct.map((object) => storeLoose(objectDirectory, object, true)))
  return { durable: syncAll(new Set(files.map(dirname)), pack) }
}

async function syncAll(directories: ReadonlySet<string>, pack: string): Promise<void> {
  await Promise.all(
    [...directories].map((directory) =>
      syncDirectory(directory).catch((error: unknown) => {
        if (!hasCode(error, 'ENOENT')) throw error
        // Maintenance has packed the objects meanwhile, and left the directory empty.
        return syncDirectory(pack)
      }),
    ),
  )
}

/** Stores objects as files without making them durable, for processes that read them while they last. */
export async function storePassing(objectDirectory: string, objects: readonly NewObject[]): Promise<void> {
  await Promise.all(objects.map((object) => storeLoose(objectDirectory, object, false)))
}

/** The file of an object that has one of its own. */
export function looseFile(objectDirectory: string, id: string): string {
  return join(objectDirectory, id.slice(0, 2), id.slice(2))
}

/** The object in a file of its own; undefined when it has none. Throws GitError `gone` for a file that holds none. */
export async function readLoose(objectDirectory: string, id: string): Promise<NewObject | undefined> {
  let compressed: Buffer
  try {
    compressed = await readFile(looseFile(objectDirectory, id))
  } catch (error) {
    if (hasCode(error, 'ENOENT')) return undefined
    throw error
  }
  const bytes = await decompress(compressed)
  const head = bytes.indexOf(0)
  const [type = ''] = bytes.toString('latin1', 0, head).split(' ')
  return { id, type: readType(type), body: bytes.subarray(head + 1) }
}

async function storeLoose(objectDirectory: string, object: NewObject, durable: boolean): Promise<string> {
  const file = looseFile(objectDirectory, object.id)
  if (freshen(file)) return file
  const head = Buffer.from(`${object.type} ${object.body.length}\0`)
  const bytes = await compress(Buffer.concat([head, object.body]))
  const temporary = join(dirname(file), temporaryName('tmp_obj'))
  for (let attempt = 1; ; attempt += 1) {
    try {
      await (durable ? writeNew(temporary, bytes, fileMode) : writePassing(temporary, bytes))
      break
    } catch (error) {
      // The directory was never there, or maintenance removed it because it was empty, perhaps just after it was made.
      if (!hasCode(error, 'ENOENT') || attempt === directoryAttempts) throw error
      await makeFanOut(dirname(file), durable)
    }
  }
  await place(temporary, file)
  return file
}

async function makeFanOut(directory: string, durable: boolean): Promise<void> {
  try {
    if (durable) await makeDirectory(directory)
    else await mkdir(directory, { recursive: true })
  } catch (error) {
    if (!hasCode(error, 'ENOENT')) throw error
  }
}

async function writePassing(file: string, bytes: Buffer): Promise<void> {
  const opened = openSync(file, 'wx', fileMode)
  try {
    await writeAll(opened, bytes)
  } finally {
    closeSync(opened)
  }
}

/** Gives a file the present as its time; false when there is none. */
function freshen(file: string): boolean {
  // Nearly always there is none, and an error costs more than this look.
  if (!existsSync(file)) return false
  const now = new Date()
  try {
    utimesSync(file, now, now)
    return true
  } catch (error) {
    if (hasCode(error, 'ENOENT')) return false
    throw error
  }
}

async function place(from: string, to: string): Promise<void> {
  try {
    renameSync(from, to)
  } catch (error) {
    await unlink(from).catch(() => undefined)
    throw error
  }
}

interface Packed {
  readonly id: string
  readonly offset: number
  readonly crc: number
}

async function storePack(packDirectory: string, objects: readonly NewObject[]): Promise<void> {
  const temporary = join(packDirectory, temporaryName('tmp_pack'))
  const file = await openIn(packDirectory, temporary)
  let trailer: Buffer
  const packed: Packed[] = []
  try {
    trailer = await writePack(file, objects, packed)
    await syncFile(file)
  } catch (error) {
    await unlink(temporary).catch(() => undefined)
    throw error
  } finally {
    closeSync(file)
  }
  const index = join(packDirectory, temporaryName('tmp_idx'))
  await writeNew(index, indexBytes(packed, trailer), fileMode)
  const name = join(packDirectory, `pack-${trailer.toString('hex')}`)
  // git looks for indexes: the pack must be there before its own.
  await place(temporary, `${name}.pack`)
  await place(index, `${name}.idx`)
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
  const rest = breather()
  for (const { id, type, body } of objects) {
    const [head, compressed] = [entryHead(type, body.length), await compress(body)]
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
