import { makeObject, type NewObject } from './objects.ts'
import { directoryMode, emptyTree, sortLines, treeBytes, type TreeLine } from './tree_lines.ts'
import { createYield } from '../event_loop.ts'

/** A directory that was looked into. `id` is the tree it was read from; none for a new one. */
interface Folder {
  readonly id: string | undefined
  readonly children: Map<string, TreeLine | Folder>
  changed: boolean
}

/** Where a path leads: `node` is undefined when nothing is there. Valid until the next change. */
export interface Place {
  readonly chain: readonly Folder[]
  readonly key: string
  readonly node: TreeLine | Folder | undefined
}

/** A tree that came out of changes, and the objects of it that the tree it came from does not hold. */
export interface Drafted {
  readonly tree: string
  readonly objects: readonly NewObject[]
  /** The lines of the trees among the objects, by hash. */
  readonly trees: ReadonlyMap<string, readonly TreeLine[]>
}

/** A path as the keys of its parts. */
export type Parts = readonly string[]

type ReadLines = (tree: string) => Promise<readonly TreeLine[]>

/** A tree that is being changed in memory. Only directories that a path leads through are read. */
export class Draft {
  readonly #read: ReadLines
  readonly #root: Folder
  readonly #blobs = new Map<string, NewObject>()
  readonly #trees = new Map<string, readonly TreeLine[]>()

  private constructor(read: ReadLines, root: Folder) {
    this.#read = read
    this.#root = root
  }

  /** Starts from the tree `base`, or from nothing. */
  static async from(base: string | undefined, read: ReadLines): Promise<Draft> {
    return new Draft(read, base === undefined ? newFolder() : await openTree(read, base))
  }

  /** Reads the directories that the paths lead through, those of one level at once. */
  preload(paths: readonly Parts[]): Promise<void> {
    return this.#preload(this.#root, paths, 0)
  }

  /** Where a path leads; undefined when something on the way is missing or no directory. */
  async find(path: Parts): Promise<Place | undefined> {
    const chain = [this.#root]
    for (const key of path.slice(0, -1)) {
      const next = await this.#open(chain.at(-1), key)
      if (next === undefined) return undefined
      chain.push(next)
    }
    const key = path.at(-1) ?? ''
    return { chain, key, node: chain.at(-1)?.children.get(key) }
  }

  /** Like find, and makes the directories that are missing; undefined when something that is none is in the way. */
  async reach(path: Parts): Promise<Place | undefined> {
    const chain = [this.#root]
    for (const key of path.slice(0, -1)) {
      const folder = chain.at(-1)
      if (folder?.children.has(key) === false) folder.children.set(key, newFolder())
      const next = await this.#open(folder, key)
      if (next === undefined) return undefined
      chain.push(next)
    }
    const key = path.at(-1) ?? ''
    return { chain, key, node: chain.at(-1)?.children.get(key) }
  }

  /** Puts a line in a place; what was there, a whole directory even, is replaced. */
  put({ chain, key }: Place, mode: string, id: string): void {
    for (const folder of chain) folder.changed = true
    chain.at(-1)?.children.set(key, { mode, key, id })
  }

  /** Takes away what is in a place. */
  remove({ chain, key }: Place): void {
    for (const folder of chain) folder.changed = true
    chain.at(-1)?.children.delete(key)
  }

  /** Names content, and keeps it for the tree if it differs from `known`, the hash of what is stored there already. */
  async content(bytes: Buffer, known?: string): Promise<string> {
    const blob = await makeObject('blob', bytes)
    if (blob.id !== known) this.#blobs.set(blob.id, blob)
    return blob.id
  }

  /** Names all that changed. Directories that became empty are gone. */
  async finish(): Promise<Drafted> {
    const objects = new Map<string, NewObject>()
    const tree = await this.#name(this.#root, objects, createYield())
    return { tree, objects: [...objects.values()], trees: this.#trees }
  }

  async #preload(folder: Folder, paths: readonly Parts[], depth: number): Promise<void> {
    const groups = new Map<string, Parts[]>()
    for (const path of paths) {
      const key = path[depth]
      // The last part is what is changed, and is not looked into.
      if (key === undefined || depth === path.length - 1) continue
      const group = groups.get(key)
      if (group === undefined) groups.set(key, [path])
      else group.push(path)
    }
    await Promise.all(
      [...groups].map(async ([key, group]) => {
        const next = await this.#open(folder, key)
        if (next !== undefined) await this.#preload(next, group, depth + 1)
      }),
    )
  }

  async #open(folder: Folder | undefined, key: string): Promise<Folder | undefined> {
    const child = folder?.children.get(key)
    if (child === undefined || 'children' in child) return child
    if (child.mode !== directoryMode) return undefined
    const opened = await openTree(this.#read, child.id)
    folder?.children.set(key, opened)
    return opened
  }

  async #name(folder: Folder, objects: Map<string, NewObject>, rest: () => Promise<void>): Promise<string> {
    if (!folder.changed && folder.id !== undefined) return folder.id
    await rest()
    const lines: TreeLine[] = []
    for (const [key, child] of folder.children) {
      if ('children' in child) {
        const id = await this.#name(child, objects, rest)
        if (id !== emptyTree) lines.push({ mode: directoryMode, key, id })
      } else {
        lines.push(child)
        const blob = this.#blobs.get(child.id)
        if (blob !== undefined) objects.set(blob.id, blob)
      }
    }
    const sorted = sortLines(lines)
    const tree = await makeObject('tree', treeBytes(sorted))
    const isNeeded = tree.id !== folder.id && (tree.id !== emptyTree || folder === this.#root)
    if (isNeeded) {
      objects.set(tree.id, tree)
      this.#trees.set(tree.id, sorted)
    }
    return tree.id
  }
}

function newFolder(): Folder {
  return { id: undefined, children: new Map(), changed: true }
}

async function openTree(read: ReadLines, id: string): Promise<Folder> {
  return { id, children: new Map((await read(id)).map((line) => [line.key, line])), changed: false }
}
