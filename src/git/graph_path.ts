import { bloomKeys, type BloomKey } from './graph_bloom.ts'
import type { Graph } from './graph.ts'
import { mark, type Simplifier, type Walk } from './graph_walk.ts'
import { entryIn } from './tree_bytes.ts'

/** Reads the content of an object by its hash, or `hash:path`; undefined when it is missing or no tree. */
export type ReadTree = (object: string) => Promise<Buffer | undefined>

const lookAhead = 256
const atOnce = 48
const maxEntries = 20_000

/** True when the graph can tell for nearly every commit, without trees, that it left `path` alone. */
export function hasFilters(graph: Graph, path: string): boolean {
  // eslint-disable-next-line no-control-regex
  const isPlain = /^[\u0001-\u0009\u000b-\u007f]*$/.test(path)
  return graph.layers.every(({ filters }) => filters !== undefined && (isPlain || filters.version === 2))
}

/** Follows one file or directory through history, by changed-path filters first and by trees where those cannot tell. */
export class PathSimplifier implements Simplifier {
  readonly #graph: Graph
  readonly #directory: string
  readonly #name: string
  readonly #keys: BloomKey[]
  readonly #read: ReadTree
  /** By the hash of a commit's tree: mode and hash of what is at the path, empty for nothing. */
  readonly #entries = new Map<string, string>()
  readonly #lacking = new Set<string>()
  #from = -1

  constructor(graph: Graph, path: string, read: ReadTree) {
    const slash = path.lastIndexOf('/')
    this.#graph = graph
    this.#directory = slash === -1 ? '' : path.slice(0, slash)
    this.#name = path.slice(slash + 1)
    this.#keys = bloomKeys(path)
    this.#read = read
  }

  simplify(walk: Walk, commit: number): boolean {
    const parents = walk.parents(commit)
    const isRelevant = (parent: number): boolean =>
      !walk.has(parent, mark.out) || walk.has(parent, mark.bottom)
    const compared = walk.course.firstParent ? parents.slice(0, 1) : parents
    const outcome = compared.length === 0 ? this.#isAbsent(commit) : undefined
    if (compared.length === 0) {
      if (outcome === true) walk.set(commit, mark.same)
      return outcome !== undefined
    }
    const changed = { relevant: false, other: false }
    for (const [nth, parent] of compared.entries()) {
      const isSame = this.#isSame(commit, parent, nth)
      if (isSame === undefined) return false
      walk.set(parent, mark.read)
      if (isSame && isRelevant(parent)) {
        if (parents.length > 1) walk.cutTo(commit, parent)
        walk.set(commit, mark.same)
        return true
      }
      if (!isSame) changed[isRelevant(parent) ? 'relevant' : 'other'] = true
    }
    // git has counted the second parent of a merge by the time it stops at the first.
    const counted = walk.course.firstParent ? parents.slice(0, 2) : parents
    if (!(counted.some(isRelevant) ? changed.relevant : changed.other)) walk.set(commit, mark.same)
    return true
  }

  async fetch(): Promise<void> {
    if (this.#entries.size > maxEntries) this.#entries.clear()
    if (this.#from !== -1) this.#lookAhead(this.#from)
    const trees = [...this.#lacking]
    this.#lacking.clear()
    await Promise.all(trees.map(async (tree) => this.#entries.set(tree, await this.#entryOf(tree))))
  }

  /** True when nothing is at the path; undefined when the tree has to be fetched. */
  #isAbsent(commit: number): boolean | undefined {
    const entry = this.#entry(commit)
    if (entry === undefined) this.#from = commit
    return entry === undefined ? undefined : entry === ''
  }

  #isSame(commit: number, parent: number, nth: number): boolean | undefined {
    // A filter tells what a commit changed against its first parent.
    if (nth === 0 && this.#leavesAlone(commit)) return true
    if (this.#graph.tree(commit) === this.#graph.tree(parent)) return true
    const [own, other] = [this.#entry(commit), this.#entry(parent)]
    if (own !== undefined && other !== undefined) return own === other
    this.#from = commit
    return undefined
  }

  #leavesAlone(commit: number): boolean {
    if (commit >= this.#graph.filed) return false
    const layer = this.#graph.layerOf(commit)
    return layer.filters?.excludes(commit - layer.base, this.#keys) === true
  }

  #entry(commit: number): string | undefined {
    const tree = this.#graph.tree(commit)
    const known = this.#entries.get(tree)
    if (known === undefined) this.#lacking.add(tree)
    return known
  }

  /** Adds what the walk will ask for next, most likely: a round of questions costs the same for one tree as for many. */
  #lookAhead(from: number): void {
    let commit = from
    for (let step = 0; step < lookAhead && commit !== -1 && this.#lacking.size < atOnce; step += 1) {
      const parent = this.#graph.first[commit] ?? -1
      if (!this.#leavesAlone(commit)) {
        this.#entry(commit)
        if (parent !== -1) this.#entry(parent)
      }
      commit = parent
    }
  }

  async #entryOf(tree: string): Promise<string> {
    const bytes = await this.#read(this.#directory === '' ? tree : `${tree}:${this.#directory}`)
    const entry = bytes === undefined ? undefined : entryIn(bytes, Buffer.from(this.#name))
    return entry ?? ''
  }
}
