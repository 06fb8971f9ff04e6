import { readdir, readFile, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { LRUCache } from 'lru-cache'
import type { AskObject } from './graphs.ts'
import { isSha } from './names.ts'

/** A branch or tag and the commit it stands for; `name` is the full name. */
export interface Tip {
  readonly name: string
  /** As it stands, a tag object perhaps. */
  readonly id: string
  readonly commit: string
}

/** All branches and tags of a repository at one moment. */
export interface TipList {
  /** In the order of the full names' bytes, so branches go before tags. What points at no commit is missing. */
  readonly tips: readonly Tip[]
  /** Tells this list from every other of this process. */
  readonly version: number
}

interface Loose {
  stamp: string
  /** Milliseconds of the wall clock. */
  readAt: number
  writtenAt: number
  id: string
}

interface Packed {
  stamp: string
  /** Full name to [hash, what a tag object leads to], the latter empty where the file does not tell. */
  refs: Map<string, [string, string]>
}

interface Known {
  list: TipList
  loose: Map<string, Loose>
  packed: Packed
}

const cacheBytes = 64 * 1024 * 1024
/** A file that was read so soon after it was written may have been written again in the same tick of the clock. */
const racyMs = 100
const abreast = 64
const nothing: Packed = { stamp: '', refs: new Map() }

/** Lists branches and tags without starting a process: of what did not change since the last time nothing is read. */
export class Tips {
  readonly #ask: AskObject
  readonly #known = new LRUCache<string, Known>({
    maxSize: cacheBytes,
    sizeCalculation: ({ list }) => 1_000 + 400 * list.tips.length,
  })
  #version = 0

  constructor(ask: AskObject) {
    this.#ask = ask
  }

  /** The branches and tags as they stand. Throws GitError, and what the file system throws. */
  async list(gitDirectory: string): Promise<TipList> {
    const known = this.#known.get(gitDirectory)
    // Loose before packed: a ref that is being packed is then seen twice and never missed.
    const loose = await readLoose(gitDirectory, known?.loose)
    const packed = await readPacked(gitDirectory, known?.packed)
    if (known !== undefined && known.packed === packed && isSame(known.loose, loose)) {
      known.loose = loose
      return known.list
    }
    const all = new Map(packed.refs)
    for (const [name, { id }] of loose) all.set(name, [id, ''])
    const names = [...all.keys()].sort(compareNames)
    const tips = await this.#peeled(
      gitDirectory,
      names.map((name) => [name, ...(all.get(name) ?? ['', ''])]),
      known,
    )
    this.#version += 1
    const list = { tips, version: this.#version }
    this.#known.set(gitDirectory, { list, loose, packed })
    return list
  }

  forget(gitDirectory: string): void {
    this.#known.delete(gitDirectory)
  }

  async #peeled(gitDirectory: string, refs: readonly string[][], known: Known | undefined): Promise<Tip[]> {
    const before = new Map(known?.list.tips.map(({ id, commit }) => [id, commit]))
    const tips: Tip[] = []
    for (let from = 0; from < refs.length; from += abreast) {
      const part = refs.slice(from, from + abreast).map(async ([name = '', id = '', commit = '']) => {
        // Branches are commits, as git sees to it; a tag may be anything, and the file says no more than its hash.
        const isBranch = name.startsWith('refs/heads/')
        const peeled = isBranch ? id : (before.get(id) ?? (await this.#peel(gitDirectory, commit || id)))
        return { name, id, commit: peeled }
      })
      for (const { name, id, commit } of await Promise.all(part)) {
        if (commit !== undefined) tips.push({ name, id, commit })
      }
    }
    return tips
  }

  async #peel(gitDirectory: string, id: string): Promise<string | undefined> {
    return (await this.#ask(gitDirectory, { command: 'info', object: `${id}^{commit}` }))?.id
  }
}

function isSame(a: ReadonlyMap<string, Loose>, b: ReadonlyMap<string, Loose>): boolean {
  return a.size === b.size && [...b].every(([name, { id }]) => a.get(name)?.id === id)
}

async function readLoose(
  gitDirectory: string,
  before: ReadonlyMap<string, Loose> | undefined,
): Promise<Map<string, Loose>> {
  const folders = ['refs/heads', 'refs/tags'].map((folder) => looseNames(gitDirectory, folder))
  const names = (await Promise.all(folders)).flat()
  const found = new Map<string, Loose>()
  for (let from = 0; from < names.length; from += abreast) {
    const part = names.slice(from, from + abreast)
    const read = await Promise.all(part.map((name) => readOne(join(gitDirectory, name), before?.get(name))))
    for (const [index, name] of part.entries()) {
      const loose = read[index]
      if (loose !== undefined) found.set(name, loose)
    }
  }
  return found
}

async function looseNames(gitDirectory: string, folder: string): Promise<string[]> {
  const options = { recursive: true, withFileTypes: true } as const
  const entries = await readdir(join(gitDirectory, folder), options).catch(() => [])
  const skip = gitDirectory.length + 1
  return entries
    .filter((entry) => entry.isFile() && !entry.name.endsWith('.lock'))
    .map((entry) => join(entry.parentPath, entry.name).slice(skip))
}

async function readOne(file: string, before: Loose | undefined): Promise<Loose | undefined> {
  try {
    const { ino, size, mtimeMs, mtimeNs } = await stat(file, { bigint: true })
    const stamp = `${ino}-${size}-${mtimeNs}`
    if (before?.stamp === stamp && before.readAt - before.writtenAt > racyMs) return before
    const readAt = Date.now()
    const id = (await readFile(file, 'latin1')).trimEnd()
    return isSha(id) ? { stamp, readAt, writtenAt: Number(mtimeMs), id } : undefined
  } catch {
    // Deleted or packed meanwhile.
    return undefined
  }
}

async function readPacked(gitDirectory: string, before: Packed | undefined): Promise<Packed> {
  const file = join(gitDirectory, 'packed-refs')
  const found = await stat(file, { bigint: true }).catch(() => undefined)
  if (found === undefined) return before?.stamp === '' ? before : nothing
  const stamp = `${found.ino}-${found.size}-${found.mtimeNs}`
  const isRacy = Date.now() - Number(found.mtimeMs) < racyMs
  if (before?.stamp === stamp) return before
  return { stamp: isRacy ? '?' : stamp, refs: parsePacked(await readFile(file, 'utf8')) }
}

function parsePacked(text: string): Map<string, [string, string]> {
  const refs = new Map<string, [string, string]>()
  let last: [string, string] | undefined
  for (const line of text.split('\n')) {
    if (line.startsWith('^') && last !== undefined) last[1] = line.slice(1)
    const [id, name] = [line.slice(0, 40), line.slice(41)]
    if (!isSha(id) || !/^refs\/(?:heads|tags)\//.test(name)) continue
    last = [id, '']
    refs.set(name, last)
  }
  return refs
}

const surrogate = /[\ud800-\udfff]/

/** The order of UTF-8, which differs from that of strings only beyond the first 65,536 characters. */
function compareNames(a: string, b: string): number {
  if (surrogate.test(a) || surrogate.test(b)) return Buffer.compare(Buffer.from(a), Buffer.from(b))
  return a < b ? -1 : a > b ? 1 : 0
}
