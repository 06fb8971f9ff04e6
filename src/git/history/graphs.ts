import { LRUCache } from 'lru-cache'
import type { ObjectAnswer, ObjectQuestion } from '../processes/cat_file.ts'
import type { Graph } from './graph.ts'
import { readLinks, type Links } from './graph_links.ts'
import { loadGraph } from './graph_load.ts'
import { Slice } from '../event_loop.ts'

/** Asks one question of a repository's cat-file. */
export type AskObject = (gitDirectory: string, question: ObjectQuestion) => Promise<ObjectAnswer | undefined>

interface Known {
  /** Undefined when git itself is to answer. */
  graph: Graph | undefined
  loadedAt: number
  /** True once the files may have changed. */
  isStale: boolean
  /** Tips from which a graph was not reached within bounds: not tried again before the files change. */
  readonly far: Set<string>
}

/** Commits of a graph, in the order in which they were asked for. */
export interface Found {
  readonly graph: Graph
  readonly positions: readonly number[]
}

const maxNew = 4_000
const maxFar = 1_000
const abreast = 64
const againAfterMs = 1_000
const repairedAfterMs = 30_000

/** The graphs of the repositories in use, the least recently used dropped when all have more than `maxBytes`. */
export class Graphs {
  readonly #ask: AskObject
  readonly #maxBytes: number
  readonly #known: LRUCache<string, Known>
  readonly #loading = new Map<string, Promise<Known>>()
  #epoch = 0
  /** Called when what was held of a repository has been replaced or dropped. */
  onReplaced: (gitDirectory: string) => void = () => undefined
  /** Called when a walk met many commits that no file holds. */
  onFar: (gitDirectory: string) => void = () => undefined

  constructor(ask: AskObject, maxBytes: number) {
    this.#ask = ask
    this.#maxBytes = maxBytes
    this.#known = new LRUCache({
      maxSize: maxBytes,
      sizeCalculation: ({ graph }) => graph?.bytes ?? 1_024,
      dispose: (_, gitDirectory, reason) => {
        if (reason === 'evict') this.onReplaced(gitDirectory)
      },
    })
  }

  /**
   * Finds the commits `shas` in a graph that holds all their ancestors. Undefined when it cannot be had cheaply or
   * reliably: then git itself is to be asked, and says what is wrong with hashes of no commit.
   */
  async with(gitDirectory: string, shas: readonly string[]): Promise<Found | undefined> {
    let known = await this.#current(gitDirectory)
    // A damaged file may have been replaced since.
    if (known.graph === undefined) known.isStale = performance.now() - known.loadedAt > repairedAfterMs
    if (known.graph === undefined) return undefined
    let positions = await findAll(known.graph, shas)
    if (!positions.includes(-1)) return { graph: known.graph, positions }
    // A missing commit may have been written to the files since, without notice here.
    if (performance.now() - known.loadedAt > againAfterMs) {
      known.isStale = true
      known = await this.#current(gitDirectory)
      if (known.graph === undefined) return undefined
      positions = await findAll(known.graph, shas)
    }
    const { graph, far } = known
    const missing = shas.filter((_, index) => positions[index] === -1)
    if (missing.some((sha) => far.has(sha))) return undefined
    if (!(await this.#include(gitDirectory, graph, missing))) return this.#giveUp(known, missing)
    return { graph, positions: await findAll(graph, shas) }
  }

  /** Those of `shas` that the commit-graph files do not hold yet; undefined when the files cannot be read here. */
  async unfiled(gitDirectory: string, shas: readonly string[]): Promise<string[] | undefined> {
    this.touched(gitDirectory)
    const { graph } = await this.#current(gitDirectory)
    if (graph === undefined) return undefined
    const positions = await findAll(graph, shas)
    return shas.filter((_, index) => positions[index] === -1 || (positions[index] ?? 0) >= graph.filed)
  }

  /** Says that the files may have changed: they are looked at before the next answer. */
  touched(gitDirectory: string): void {
    const known = this.#known.get(gitDirectory)
    if (known !== undefined) known.isStale = true
  }

  /** Drops all that is remembered of a repository. */
  forget(gitDirectory: string): void {
    this.#epoch += 1
    this.#known.delete(gitDirectory)
    this.#loading.delete(gitDirectory)
  }

  #giveUp(known: Known, missing: readonly string[]): undefined {
    if (known.far.size > maxFar) known.far.clear()
    for (const sha of missing) known.far.add(sha)
    return undefined
  }

  async #current(gitDirectory: string): Promise<Known> {
    const known = this.#known.get(gitDirectory)
    if (known !== undefined && !known.isStale) return known
    const under = this.#loading.get(gitDirectory)
    if (under !== undefined) return under
    const load = this.#load(gitDirectory, known)
    this.#loading.set(gitDirectory, load)
    try {
      return await load
    } finally {
      if (this.#loading.get(gitDirectory) === load) this.#loading.delete(gitDirectory)
    }
  }

  async #load(gitDirectory: string, before: Known | undefined): Promise<Known> {
    if (before !== undefined) before.isStale = false
    const loadedAt = performance.now()
    const epoch = this.#epoch
    const loaded = await loadGraph(gitDirectory, before?.graph, this.#maxBytes).catch(() => undefined)
    // One that could not be kept would be read again for each question.
    const graph = (loaded?.bytes ?? 0) > this.#maxBytes ? undefined : loaded
    const isSame = before !== undefined && graph === before.graph
    const known = { graph, loadedAt, isStale: false, far: isSame ? before.far : new Set<string>() }
    // Told of another change meanwhile: what was just read may be older than that.
    if (before?.isStale === true) known.isStale = true
    if (epoch === this.#epoch) this.#known.set(gitDirectory, known)
    if (!isSame && before !== undefined) this.onReplaced(gitDirectory)
    return known
  }

  /** Reads the commits between `shas` and what the graph holds. False when they are too many, too odd or not all there. */
  async #include(gitDirectory: string, graph: Graph, shas: readonly string[]): Promise<boolean> {
    const found = new Map<string, Links>()
    let wave = [...new Set(shas)]
    while (wave.length > 0) {
      if (found.size + wave.length > maxNew) {
        this.onFar(gitDirectory)
        return false
      }
      const next = new Set<string>()
      for (let from = 0; from < wave.length; from += abreast) {
        const part = wave.slice(from, from + abreast)
        const links = await Promise.all(part.map((sha) => this.#links(gitDirectory, sha)))
        for (const [index, sha] of part.entries()) {
          const commit = links[index]
          if (commit === undefined) return false
          found.set(sha, commit)
          for (const parent of commit.parents) next.add(parent)
        }
      }
      wave = [...next].filter((sha) => !found.has(sha) && graph.find(sha) === -1)
    }
    graph.add(found)
    return true
  }

  async #links(gitDirectory: string, sha: string): Promise<Links | undefined> {
    const answer = await this.#ask(gitDirectory, { command: 'contents', object: sha })
    return answer?.type === 'commit' ? readLinks(answer.bytes) : undefined
  }
}

async function findAll(graph: Graph, shas: readonly string[]): Promise<number[]> {
  const positions: number[] = []
  const slice = new Slice()
  for (const sha of shas) {
    positions.push(graph.find(sha))
    if ((positions.length & 255) === 0 && slice.isOver()) await slice.rest()
  }
  return positions
}
