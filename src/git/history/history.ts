import { readAuthor } from '../objects/commit.ts'
import { GitError } from '../errors.ts'
import { AuthorFilter } from './graph_authors.ts'
import { hasFilters, PathSimplifier } from './graph_path.ts'
import { plain } from './graph_plain.ts'
import { topological } from './graph_topo.ts'
import { newestFirst, pause, Walk, type Simplifier } from './graph_walk.ts'
import type { Graph } from './graph.ts'
import type { AskObject, Found } from './graphs.ts'
import { Slice } from '../event_loop.ts'

/** A validated query of history; times in Unix seconds, Infinity of either sign for none. */
export interface Selection {
  readonly tips: readonly string[]
  readonly exclude: readonly string[]
  readonly since: number
  readonly until: number
  readonly firstParent: boolean
  readonly isTopological: boolean
  /** Without slashes around it. */
  readonly path: string | undefined
  readonly author: string | undefined
  /** Whether the file at `path` is followed over its renames, which git alone does. */
  readonly follows: boolean
}

const firstBatch = 64
const largestBatch = 512
const maxPathBytes = 2_000

/** True when `select` over this graph gives what git would, and not slower. */
export function canSelect(graph: Graph, { path, author, isTopological, follows }: Selection): boolean {
  if (follows) return false
  if (author !== undefined && graph.authors.isFull) return false
  // Without generation numbers git orders in another way.
  if (isTopological && graph.filed === 0) return false
  if (path === undefined) return true
  return Buffer.byteLength(path) <= maxPathBytes && !path.includes('\n') && hasFilters(graph, path)
}

/** One walk through a history that is read on from where the last reading stopped. */
export class History {
  readonly graph: Graph
  readonly #ask: (object: string) => ReturnType<AskObject>
  readonly #simplifier: Simplifier | undefined
  /** Undefined for plain walks, whose state is small. */
  readonly #walk: Walk | undefined
  readonly #steps: Generator<number, void>
  readonly #authors: AuthorFilter | undefined
  /** Found and not yet taken. */
  #ready: number[] = []
  #batch = firstBatch
  #ended = false
  #taken = 0
  readonly #isWide: boolean

  /** `found` are the tips of `selection`, then what it excludes; `ask` reads an object, by `hash` or `hash:path`. */
  constructor(found: Found, selection: Selection, ask: (object: string) => ReturnType<AskObject>) {
    const { graph, positions } = found
    const readTree = async (object: string): Promise<Buffer | undefined> => {
      const answer = await ask(object)
      return answer?.type === 'tree' ? answer.bytes : undefined
    }
    this.graph = graph
    this.#ask = ask
    this.#isWide = selection.isTopological
    const { path, isTopological } = selection
    this.#simplifier = path === undefined ? undefined : new PathSimplifier(graph, path, readTree)
    const course = {
      ...selection,
      graph,
      tips: positions.slice(0, selection.tips.length),
      exclude: positions.slice(selection.tips.length),
      simplifier: this.#simplifier,
    }
    const isPlain = !isTopological && path === undefined && course.exclude.length === 0
    this.#walk = isPlain ? undefined : new Walk(course)
    if (this.#walk === undefined) this.#steps = plain(course)
    else this.#steps = isTopological ? topological(this.#walk) : newestFirst(this.#walk)
    this.#authors =
      selection.author === undefined ? undefined : new AuthorFilter(graph.authors, selection.author)
  }

  /** About how many bytes it holds on to, beside the graph. */
  get bytes(): number {
    const state = this.#walk?.bytes ?? Math.min(this.graph.size, 40 * this.#taken)
    return 2_000 + (this.#isWide ? 4 : 1) * state + 8 * this.#ready.length
  }

  /** The hashes, 20 bytes each, of the next `count` commits; of fewer at the end. Throws GitError. */
  async take(count: number): Promise<Buffer> {
    const slice = new Slice()
    while (this.#ready.length < count && !this.#ended) {
      const batch = this.#authors === undefined ? count - this.#ready.length : this.#batch
      const found = await this.#next(batch, slice)
      for (const commit of await this.#filtered(found)) this.#ready.push(commit)
      this.#batch = Math.min(this.#batch * 2, largestBatch)
    }
    const taken = this.#ready.splice(0, count)
    this.#taken += taken.length
    return this.graph.ids(taken)
  }

  async #next(count: number, slice: Slice): Promise<number[]> {
    const found: number[] = []
    while (found.length < count) {
      const { value, done } = this.#steps.next()
      if (done === true) {
        this.#ended = true
        break
      }
      if (value !== pause) found.push(value)
      else {
        await this.#simplifier?.fetch()
        if (slice.isOver()) await slice.rest()
      }
    }
    return found
  }

  async #filtered(commits: number[]): Promise<number[]> {
    const authors = this.#authors
    if (authors === undefined) return commits
    const { authorOf } = this.graph
    const unread = commits.filter((commit) => authorOf[commit] === 0)
    await Promise.all(unread.map((commit) => this.#readAuthor(commit)))
    return commits.filter((commit) => authors.accepts((this.graph.authorOf[commit] ?? 0) - 1))
  }

  async #readAuthor(commit: number): Promise<void> {
    const answer = await this.#ask(this.graph.sha(commit))
    if (answer?.type !== 'commit') throw new GitError('gone', 'A commit of the commit-graph is missing')
    this.graph.authorOf[commit] = 1 + this.graph.authors.number(readAuthor(answer.bytes))
  }
}
