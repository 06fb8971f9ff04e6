import { readdir, readFile, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { LRUCache } from 'lru-cache'
import type { AskObject } from '../history/graphs.ts'
import { isSha } from '../names.ts'
import type { PackedRefs, PackedRefsReader } from './packed_refs.ts'
import { compareNames } from './refs.ts'

/** A branch or tag by its short name. */
export interface ShortRef {
  readonly type: 'branch' | 'tag'
  readonly name: string
}

/** A branch or tag and the commit it stands for. */
export interface Tip {
  readonly ref: ShortRef
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
  /** Each directory below `refs/heads` and `refs/tags` with its stamp: refs are renamed into place, which moves it. */
  folders: Map<string, string>
  /** Full name to stamp and hash. */
  refs: Map<string, { stamp: string; id: string }>
}

interface Known {
  list: TipList
  loose: Loose
  packed: PackedRefs
}

const cacheBytes = 16 * 1024 * 1024
/** A file read so soon after its write may be written again in the same tick of the clock. */
const racyMs = 100
const racy = '?'
const abreast = 64

/** Lists branches and tags without starting a process: of what did not change since the last time nothing is read. */
export class Tips {
  readonly #ask: AskObject
  readonly #packed: PackedRefsReader
  readonly #known = new LRUCache<string, Known>({
    maxSize: cacheBytes,
    sizeCalculation: ({ list }) => 1_000 + 400 * list.tips.length,
  })
  #version = 0

  constructor(ask: AskObject, packed: PackedRefsReader) {
    this.#ask = ask
    this.#packed = packed
  }

  /** The branches and tags as they stand. Throws GitError, and what the file system throws. */
  async list(gitDirectory: string): Promise<TipList> {
    const known = this.#known.get(gitDirectory)
    // Loose before packed: a ref that is being packed is then seen twice and never missed.
    const loose = await readLoose(gitDirectory, known?.loose)
    const packed = await this.#packed.read(gitDirectory)
    if (known !== undefined && known.packed === packed && isSame(known.loose, loose)) {
      known.loose = loose
      return known.list
    }
    const all = new Map<string, [string, string]>()
    for (const [name, id] of packed.ids)
      if (isListed(name)) all.set(name, [id, packed.peeled.get(name) ?? ''])
    for (const [name, { id }] of loose.refs) all.set(name, [id, ''])
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
        if (commit !== undefined) tips.push({ ref: shortRef(name), id, commit })
      }
    }
    return tips
  }

  async #peel(gitDirectory: string, id: string): Promise<string | undefined> {
    return (await this.#ask(gitDirectory, { command: 'info', object: `${id}^{commit}` }))?.id
  }
}

const isListed = (name: string): boolean => /^refs\/(?:heads|tags)\//.test(name)
const places = { branch: 'refs/heads/', tag: 'refs/tags/' } as const

/** The short form of a full name below `refs/heads/` or `refs/tags/`. */
export function shortRef(name: string): ShortRef {
  const type = name.startsWith(places.branch) ? 'branch' : 'tag'
  return { type, name: name.slice(places[type].length) }
}

function isSame(a: Loose, b: Loose): boolean {
  if (a === b) return true
  return a.refs.size === b.refs.size && [...b.refs].every(([name, { id }]) => a.refs.get(name)?.id === id)
}

async function readLoose(gitDirectory: string, before: Loose | undefined): Promise<Loose> {
  if (before !== undefined && (await isUntouched(before.folders))) return before
  const began = Date.now()
  const roots = ['refs/heads', 'refs/tags'].map((folder) => join(gitDirectory, folder))
  const options = { recursive: true, withFileTypes: true } as const
  const lists = await Promise.all(roots.map((root) => readdir(root, options).catch(() => [])))
  const entries = lists.flat().map((entry) => ({ entry, path: join(entry.parentPath, entry.name) }))
  const below = entries.filter(({ entry }) => entry.isDirectory()).map(({ path }) => path)
  const folders = new Map<string, string>()
  for (const path of [...roots, ...below]) folders.set(path, await stampOf(path, began))
  const files = entries.filter(({ entry }) => entry.isFile() && !entry.name.endsWith('.lock'))
  const refs: Loose['refs'] = new Map()
  for (let from = 0; from < files.length; from += abreast) {
    const part = files.slice(from, from + abreast).map(async ({ path }) => {
      const name = path.slice(gitDirectory.length + 1)
      return { name, ref: await readOne(path, began, before?.refs.get(name)) }
    })
    for (const { name, ref } of await Promise.all(part)) if (ref !== undefined) refs.set(name, ref)
  }
  return { folders, refs }
}

async function isUntouched(folders: ReadonlyMap<string, string>): Promise<boolean> {
  const now = await Promise.all([...folders].map(async ([path, stamp]) => (await stampOf(path)) === stamp))
  return now.every(Boolean)
}

/** Changes whenever something is renamed into a directory, or a file is replaced; `racy` if that was just before `began`. */
async function stampOf(path: string, began = Infinity): Promise<string> {
  const found = await stat(path, { bigint: true }).catch(() => undefined)
  if (found === undefined) return ''
  return began - Number(found.mtimeMs) < racyMs ? racy : `${found.ino}-${found.size}-${found.mtimeNs}`
}

async function readOne(
  file: string,
  began: number,
  before: { stamp: string; id: string } | undefined,
): Promise<{ stamp: string; id: string } | undefined> {
  const stamp = await stampOf(file, began)
  if (stamp !== racy && before?.stamp === stamp) return before
  // Deleted or packed meanwhile, perhaps.
  const id = (await readFile(file, 'latin1').catch(() => '')).trimEnd()
  return isSha(id) ? { stamp, id } : undefined
}
