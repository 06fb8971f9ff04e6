import { LRUCache } from 'lru-cache'
import type { ObjectAnswer, ObjectQuestion } from '../processes/cat_file.ts'
import { GitError } from '../errors.ts'
import { isSha, treePath } from '../names.ts'
import type { Pool } from '../processes/pool.ts'
import { lruBound } from '../lru_bound.ts'
import { createYield } from '../event_loop.ts'
import { directoryMode, keyOf, linkMode, parseTree, textOf, type TreeLine } from './tree_lines.ts'

/** An entry of a tree. `mode` is git's: `100644`, `100755`, `120000`, `040000` or `160000`. */
export interface Entry {
  readonly mode: string
  readonly type: 'blob' | 'tree' | 'commit'
  readonly id: string
  /** The last part of the path; bytes that are no UTF-8 give U+FFFD. */
  readonly name: string
  /** The whole path from the root of the tree that was asked, without slashes around it. */
  readonly path: string
}

/** Which entries are listed: those of the directory `path` (empty for the root), with all below it when `recursive`. */
export interface EntryQuery {
  readonly path: string
  readonly recursive?: boolean
  readonly skip: number
  readonly limit: number
}

/** The content of a file. Its size is known before a byte of it is read. */
export interface Blob {
  readonly id: string
  readonly size: number
  /** All bytes; throws GitError `too_large` when there are more than `maxBytes`, at most 32 MiB. */
  read(maxBytes: number): Promise<Buffer>
}

const cacheBytes = 16 * 1024 * 1024
const lineBytes = 150
const cachedRoots = 10_000

/** Reads trees and files of repositories; trees are remembered. */
export class TreeReader {
  readonly #objects: Pool<ObjectQuestion, ObjectAnswer | undefined>
  readonly #trees = new LRUCache<string, readonly TreeLine[]>({
    maxSize: cacheBytes,
    sizeCalculation: (lines, key) => 200 + 2 * key.length + lineBytes * lines.length,
  })

  /** Commits to their trees. */
  readonly #roots = new LRUCache<string, string>(lruBound(cachedRoots))

  constructor(objects: Pool<ObjectQuestion, ObjectAnswer | undefined>) {
    this.#objects = objects
  }

  /** The tree of a commit or tree; undefined when `treeish` is neither. Throws GitError when git fails. */
  async root(gitDirectory: string, treeish: string): Promise<string | undefined> {
    if (!isSha(treeish)) return undefined
    const known = this.#roots.get(`${gitDirectory}\0${treeish}`)
    if (known !== undefined) return known
    const answer = await this.#objects.ask(gitDirectory, { command: 'contents', object: treeish })
    if (answer?.type === 'tree') {
      await this.#remember(gitDirectory, treeish, answer.bytes)
      return treeish
    }
    if (answer?.type !== 'commit') return undefined
    const tree = answer.bytes.toString('latin1', 5, 45)
    if (!isSha(tree)) return undefined
    this.#roots.set(`${gitDirectory}\0${treeish}`, tree)
    return tree
  }

  /** The lines of a tree, in git's order. Throws GitError `gone` when there is no such tree. */
  async lines(gitDirectory: string, id: string): Promise<readonly TreeLine[]> {
    const known = this.#trees.get(`${gitDirectory}\0${id}`)
    if (known !== undefined) return known
    const answer = await this.#objects.ask(gitDirectory, { command: 'contents', object: id })
    if (answer?.type !== 'tree') throw new GitError('gone', `The tree ${id} is missing`)
    return this.#remember(gitDirectory, id, answer.bytes)
  }

  /** The entry at `path`, which is not the root; undefined without one. */
  async entry(gitDirectory: string, treeish: string, path: string): Promise<Entry | undefined> {
    const inner = treePath(path)
    let tree = inner === undefined ? undefined : await this.root(gitDirectory, treeish)
    if (inner === undefined) return undefined
    const parts = inner.split('/')
    for (const [index, part] of parts.entries()) {
      if (tree === undefined) return undefined
      const key = keyOf(part)
      const line = (await this.lines(gitDirectory, tree)).find((each) => each.key === key)
      if (line === undefined) return undefined
      if (index === parts.length - 1) return entryOf(line, parts.slice(0, -1).join('/'))
      tree = line.mode === directoryMode ? line.id : undefined
    }
    return undefined
  }

  /** One page of the entries at or below a directory; undefined when it is none. Directories stand before their entries. */
  async entries(gitDirectory: string, treeish: string, query: EntryQuery): Promise<Entry[] | undefined> {
    const path = query.path.replace(/^\/|\/$/g, '')
    const tree =
      path === ''
        ? await this.root(gitDirectory, treeish)
        : await this.#directory(gitDirectory, treeish, path)
    if (tree === undefined) return undefined
    const page: Entry[] = []
    let skipped = 0
    const rest = createYield()
    const walk = async (id: string, below: string): Promise<boolean> => {
      for (const line of await this.lines(gitDirectory, id)) {
        if (page.length === query.limit) return false
        if (skipped < query.skip) skipped += 1
        else page.push(entryOf(line, below))
        if (query.recursive === true && line.mode === directoryMode) {
          if (!(await walk(line.id, joined(below, textOf(line.key))))) return false
        }
        if ((skipped + page.length) % 256 === 0) await rest()
      }
      return true
    }
    await walk(tree, path)
    return page
  }

  /** The file content with this hash; undefined when there is none. */
  async blob(gitDirectory: string, id: string): Promise<Blob | undefined> {
    if (!isSha(id)) return undefined
    const info = await this.#objects.ask(gitDirectory, { command: 'info', object: id })
    if (info?.type !== 'blob') return undefined
    const { size } = info
    return {
      id,
      size,
      read: async (maxBytes) => {
        if (size > maxBytes) throw new GitError('too_large', `The file has ${size} bytes`)
        const answer = await this.#objects.ask(gitDirectory, { command: 'contents', object: id })
        if (answer === undefined) throw new GitError('gone', `The file ${id} is missing`)
        return Buffer.from(answer.bytes)
      },
    }
  }

  /** Remembers a commit and the trees that were just written: who comes next asks for them first. */
  keep(
    gitDirectory: string,
    trees: ReadonlyMap<string, readonly TreeLine[]>,
    commit?: { readonly id: string; readonly tree: string },
  ): void {
    for (const [id, lines] of trees) this.#trees.set(`${gitDirectory}\0${id}`, lines)
    if (commit !== undefined) this.#roots.set(`${gitDirectory}\0${commit.id}`, commit.tree)
  }

  /** True for a commit that was read or written here; false may mean anything. */
  isKnownCommit(gitDirectory: string, id: string): boolean {
    return this.#roots.has(`${gitDirectory}\0${id}`)
  }

  /** Drops what is remembered of a repository. */
  forget(gitDirectory: string): void {
    for (const cache of [this.#trees, this.#roots]) {
      for (const key of cache.keys()) if (key.startsWith(`${gitDirectory}\0`)) cache.delete(key)
    }
  }

  async #directory(gitDirectory: string, treeish: string, path: string): Promise<string | undefined> {
    const entry = await this.entry(gitDirectory, treeish, path)
    return entry?.type === 'tree' ? entry.id : undefined
  }

  async #remember(gitDirectory: string, id: string, bytes: Buffer): Promise<readonly TreeLine[]> {
    const lines = await parseTree(bytes)
    this.#trees.set(`${gitDirectory}\0${id}`, lines)
    return lines
  }
}

function entryOf({ mode, key, id }: TreeLine, below: string): Entry {
  const name = textOf(key)
  const type = mode === directoryMode ? 'tree' : mode === linkMode ? 'commit' : 'blob'
  return { mode: mode.padStart(6, '0'), type, id, name, path: joined(below, name) }
}

function joined(directory: string, name: string): string {
  return directory === '' ? name : `${directory}/${name}`
}
