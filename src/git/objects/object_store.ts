import { closeSync, existsSync, openSync, utimesSync } from 'node:fs'
import { mkdir, readFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { inflate } from 'node:zlib'
import {
  hasCode,
  makeDirectory,
  placeFile,
  syncDirectory,
  temporaryName,
  writeAll,
  writeNew,
} from '../durable.ts'
import { compress, readType, type NewObject } from './objects.ts'
import { storePack } from './pack_file.ts'

/** Objects up to this many are stored as a file each, more as one pack: that is two files to wait for, and one directory. */
const looseObjects = 2
const fileMode = 0o444
const directoryAttempts = 20
const decompress = promisify(inflate)

/** Stores objects like storeAhead; when it returns they are durable. */
export async function storeObjects(objectDirectory: string, objects: readonly NewObject[]): Promise<void> {
  const { placed } = await storeAhead(objectDirectory, objects)
  const makeDurable = await placed
  await makeDurable()
}

/** Objects on their way to the disk: once `placed` git can read them, and what that gives makes their names durable. */
export interface Storing {
  readonly placed: Promise<() => Promise<void>>
}

/**
 * Begins to store objects below `objectDirectory`; of many, the disk has been asked for their bytes when it returns. One
 * or two get a file each: one that has it already is not written again but given the present as its time. More are
 * written as a pack, whatever is there: of an object that nothing reaches clean-up looks at the age, and what was asked
 * for here is never about to go.
 */
export async function storeAhead(objectDirectory: string, objects: readonly NewObject[]): Promise<Storing> {
  const distinct = [...new Map(objects.map((object) => [object.id, object])).values()]
  const pack = join(objectDirectory, 'pack')
  if (distinct.length > looseObjects) {
    const { placed } = await storePack(pack, distinct)
    return { placed: placed.then(() => () => syncDirectory(pack)) }
  }
  // All at once, so that the disk is asked once for many.
  const files = Promise.all(distinct.map((object) => storeLoose(objectDirectory, object, true)))
  return { placed: files.then((all) => () => syncAll(new Set(all.map(dirname)), pack)) }
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
  const bytes = await compress(Buffer.concat([head, object.body]), object.type)
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
  await placeFile(temporary, file)
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
