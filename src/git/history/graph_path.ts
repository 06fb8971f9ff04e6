import { bloomKeys, type BloomKey } from './graph_bloom.ts'
import type { Graph } from './graph.ts'
import { mark, type Simplifier, type Walk } from './graph_walk.ts'
import { Slice } from '../event_loop.ts'
import { entryIn } from './tree_bytes.ts'

/** Reads the content of an object by its hash, or `hash:path`; undefined when it is missing or no tree. */
export type ReadTree = (object: string) => Promise<Buffer | undefined>

const stride = 4_096
const firstStride = 512
/** A walk past this many, or past this part of all commits, is one that goes far. */
const enough = { commits: 4_096, part: 1 / 64 }
const nearest = 512
const far = 8_192
/** With all filters asked already, looking ahead costs next to nothing. */
const farthest = 200_000
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
  #sight = nearest
  #skipped = 0
  /** By position 1 for each commit that a filter tells has left the path alone; undefined in short walks. */
  #left: Uint8Array | undefined

  constructor(graph: Graph, path: string, read: ReadTree) {
    const slash = path.lastIndexOf('/')
    this.#graph = graph
    this.#directory = slash === -1 ? '' : path.slice(0, slash)
    this.#name = path.slice(slash + 1)
    this.#keys = bloomKeys(path)
    this.#read = read
  }

  simplify(walk: Walk, commit: number): boolean {
    const only = this.#graph.first[commit] ?? -1
    if (only !== -1 && isRelevant(walk, only) && this.#leavesAlone(commit)) {
      // Nearly every commit ends here.
      if (this.#graph.second[commit] !== -1) walk.cutTo(commit, only)
      walk.set(commit, mark.same)
      walk.set(only, mark.read)
      return true
    }
    const parents = walk.parents(commit)
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
      if (isSame && isRelevant(walk, parent)) {
        if (parents.length > 1) walk.cutTo(commit, parent)
        walk.set(commit, mark.same)
        return true
      }
      if (!isSame) changed[isRelevant(walk, parent) ? 'relevant' : 'other'] = true
    }
    // git has counted the second parent of a merge by the time it stops at the first.
    const counted = walk.course.firstParent ? parents.slice(0, 2) : parents
    if (!(counted.some((parent) => isRelevant(walk, parent)) ? changed.relevant : changed.other))
      walk.set(commit, mark.same)
    return true
  }

  skip(walk: Walk, commit: number): number {
    const { first, second, time } = this.#graph
    const { marks, course } = walk
    // As long as each filter is asked by itself it is soon asked whether all are better asked together.
    const steps = this.#left === undefined ? firstStride : stride
    let at = commit
    for (let step = 0; step < steps; step += 1) {
      const parent = first[at] ?? -1
      if (parent === -1 || (time[at] ?? 0) < course.since || !this.#leavesAlone(at)) return at
      this.#skipped += 1
      marks[at] = (marks[at] ?? 0) | mark.same | mark.added | (second[at] === -1 ? 0 : mark.line)
      const known = marks[parent] ?? 0
      marks[parent] = known | mark.seen | mark.read
      if ((known & mark.seen) !== 0) return -1
      at = parent
    }
    return at
  }

  async fetch(): Promise<void> {
    const isFar = this.#skipped >= Math.min(enough.commits, this.#graph.filed * enough.part)
    if (this.#left === undefined && isFar) this.#left = await this.#filterAll()
    if (this.#entries.size > maxEntries) this.#entries.clear()
    if (this.#from !== -1) this.#lookAhead(this.#from)
    const trees = [...this.#lacking]
    this.#lacking.clear()
    this.#from = -1
    await Promise.all(trees.map(async (tree) => this.#entries.set(tree, await this.#entryOf(tree))))
  }

  /**
   * Asks all filters in the order in which they lie in memory: for a walk that goes far, that takes a tenth of the time
   * of asking them in the order of the walk.
   */
  async #filterAll(): Promise<Uint8Array> {
    const left = new Uint8Array(this.#graph.filed)
    const slice = new Slice()
    for (const { base, count, filters } of this.#graph.layers) {
      for (let from = 0; from < count; from += stride) {
        filters?.excludeRange({ from, to: Math.min(from + stride, count), at: base }, this.#keys, left)
        if (slice.isOver()) await slice.rest()
      }
    }
    return left
  }

  /** True when nothing is at the path; undefined when the tree has to be fetched. */
  #isAbsent(commit: number): boolean | undefined {
    // A first commit's filter holds all that is in its tree.
    if (this.#leavesAlone(commit)) return true
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
    if (this.#left !== undefined) return this.#left[commit] === 1
    const layer = this.#graph.layerOf(commit)
    return layer.filters?.excludes(commit - layer.base, this.#keys) === true
  }

  #entry(commit: number): string | undefined {
    const tree = this.#graph.tree(commit)
    const known = this.#entries.get(tree)
    if (known === undefined) this.#lacking.add(tree)
    return known
  }

  /**
   * Adds what the walk will ask for next, most likely: a round of questions costs about the same for one tree as for
   * many. It looks further each time, as a walk that is read to its end is worth it and a short one is not.
   */
  #lookAhead(from: number): void {
    const { first } = this.#graph
    const lines = [from]
    let left = this.#left === undefined ? this.#sight : farthest
    for (let line = lines.pop(); line !== undefined; line = lines.pop()) {
      let commit = line
      for (; left > 0 && commit !== -1 && this.#lacking.size < atOnce; left -= 1) {
        if (!this.#leavesAlone(commit)) {
          this.#entry(commit)
          const [parent, ...others] = this.#graph.parents(commit)
          for (const one of parent === undefined ? [] : [parent, ...others]) this.#entry(one)
          lines.push(...others)
        }
        commit = first[commit] ?? -1
      }
    }
    this.#sight = Math.min(this.#sight * 8, far)
  }

  async #entryOf(tree: string): Promise<string> {
    const bytes = await this.#read(this.#directory === '' ? tree : `${tree}:${this.#directory}`)
    const entry = bytes === undefined ? undefined : entryIn(bytes, Buffer.from(this.#name))
    return entry ?? ''
  }
}

function isRelevant(walk: Walk, parent: number): boolean {
  return !walk.has(parent, mark.out) || walk.has(parent, mark.bottom)
}
