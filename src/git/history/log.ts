import { createHash } from 'node:crypto'
import { LRUCache } from 'lru-cache'
import { isGitError } from '../errors.ts'
import { idBytes } from './graph_file.ts'
import type { AskObject, Graphs } from './graphs.ts'
import { canSelect, History, type Selection } from './history.ts'
import { revListArguments, selectionOf, type LogQuery } from './log_query.ts'
import type { RunOptions } from '../processes/spawner.ts'
import type { Tips } from '../refs/tips.ts'

export type { LogQuery } from './log_query.ts'

/** The ids of a walk so far, 20 bytes each, and whether the walk has reached its end. */
export interface Order {
  ids: Buffer
  complete: boolean
  /** The walk itself, to be read on; undefined when git walked. */
  history: History | undefined
}

/** Parts of a history scan. */
export interface WalkTools {
  readonly run: (args: readonly string[], options: RunOptions) => Promise<Buffer>
  readonly ask: AskObject
  readonly graphs: Graphs
  readonly tips: Tips
}

const firstStride = 256
const growth = 4
const maxOrderBytes = 16 * 1024 * 1024
/** How many hashes the remembered pages hold together. */
const maxPaged = 5_000

/**
 * Walks history, in memory where the commit-graph can answer and with `git rev-list` where not, and remembers how far
 * it got, by (repository, tips, filters): all of it immutable, so an entry never grows stale. A walk in memory goes on
 * where it stopped. One with git begins anew, so it reads a stride ahead and then further geometrically.
 */
export class Walks {
  readonly #tools: WalkTools
  readonly #orders: LRUCache<string, Order>
  readonly #pages = new LRUCache<string, readonly string[]>({
    maxSize: maxPaged,
    sizeCalculation: (page) => 1 + page.length,
  })
  readonly #growing = new Map<string, Promise<Order>>()

  constructor(tools: WalkTools, orders: LRUCache<string, Order>) {
    this.#tools = tools
    this.#orders = orders
  }

  /**
   * The hashes of `query.limit` commits after the first `query.skip`; for some time the same array for the same ones.
   * Throws TypeError for a query that is no query, GitError when git fails (an unknown hash included).
   */
  async page(gitDirectory: string, query: LogQuery): Promise<readonly string[]> {
    if (selectionOf(query, []) === undefined || query.limit === 0) return []
    const all = query.all === true ? await this.#tools.tips.list(gitDirectory) : undefined
    const tips = all === undefined ? (query.from ?? []) : all.tips.map(({ commit }) => commit)
    const selection = selectionOf(query, tips)
    if (selection === undefined || tips.length === 0) return []
    const end = query.skip + query.limit
    if (end * idBytes > maxOrderBytes) {
      return hashes(await this.#revList(gitDirectory, selection, query))
    }
    const what = { ...selection, since: String(selection.since), until: String(selection.until) }
    const name = JSON.stringify(all === undefined ? what : { ...what, tips: all.version })
    const pageKey = `${gitDirectory}\0${name}\0${query.skip}\0${end}`
    const known = this.#pages.get(pageKey)
    if (known !== undefined) return known
    const key = `${gitDirectory}\0${createHash('sha256').update(name).digest('base64')}`
    const { ids } = await this.#upTo(key, { gitDirectory, selection }, end)
    const page = hashes(ids.subarray(query.skip * idBytes, end * idBytes))
    this.#pages.set(pageKey, page)
    return page
  }

  /** Lets go of walks that hold on to what is no longer the repository's graph; their orders stay. */
  release(gitDirectory: string): void {
    for (const [key, order] of this.#orders.entries()) {
      if (key.startsWith(`${gitDirectory}\0`)) order.history = undefined
    }
  }

  /** The order under `key`, grown until it holds `end` ids or all; callers of the same order share one walk. */
  async #upTo(key: string, wanted: Wanted, end: number): Promise<Order> {
    let order = this.#orders.get(key) ?? empty
    while (!order.complete && order.ids.length < end * idBytes) {
      order = await (this.#growing.get(key) ?? this.#start(key, wanted, { order, end }))
    }
    return order
  }

  async #start(key: string, wanted: Wanted, from: { order: Order; end: number }): Promise<Order> {
    const step = this.#grow(wanted, from.order, from.end)
    this.#growing.set(key, step)
    try {
      const grown = await step
      this.#orders.set(key, grown)
      return grown
    } finally {
      this.#growing.delete(key)
    }
  }

  async #grow(wanted: Wanted, order: Order, end: number): Promise<Order> {
    const known = order.ids.length / idBytes
    const history = await this.#history(wanted, order)
    if (history !== undefined) {
      try {
        if (history !== order.history) await history.take(known)
        const more = await history.take(end - known)
        const complete = more.length < (end - known) * idBytes
        return { ids: join(order.ids, more), complete, history: complete ? undefined : history }
      } catch (error) {
        // It stands somewhere between what was asked for and what was not given.
        order.history = undefined
        // Commits that cannot be read here go to git, which can read them or report the fault.
        if (!isGitError(error) || error.fault === 'closed') throw error
      }
    }
    const { author, path } = wanted.selection
    // A filter can make each further match as dear as all the history before it: then read no more than is asked.
    const first = author === undefined && path === undefined ? firstStride : 0
    const target = Math.min(Math.max(end, known === 0 ? first : known * growth), maxOrderBytes / idBytes)
    const window = { skip: known, limit: target - known }
    const more = await this.#revList(wanted.gitDirectory, wanted.selection, window)
    return { ids: join(order.ids, more), complete: more.length < window.limit * idBytes, history: undefined }
  }

  /** The walk to read on, or a new one; undefined when git has to walk. */
  async #history({ gitDirectory, selection }: Wanted, order: Order): Promise<History | undefined> {
    const { graphs, ask } = this.#tools
    const found = await graphs.with(gitDirectory, [...selection.tips, ...selection.exclude])
    if (found === undefined || !canSelect(found.graph, selection)) return undefined
    if (order.history?.graph === found.graph) return order.history
    return new History(found, selection, (object) => ask(gitDirectory, { command: 'contents', object }))
  }

  async #revList(
    gitDirectory: string,
    selection: Selection,
    { skip, limit }: Pick<LogQuery, 'skip' | 'limit'>,
  ): Promise<Buffer> {
    const input = [...selection.tips, ...selection.exclude.map((sha) => `^${sha}`), ''].join('\n')
    const options = { gitDirectory, input, maxBytes: 64 + limit * (2 * idBytes + 1) }
    const output = await this.#tools.run(revListArguments(selection, skip, limit), options)
    return Buffer.from(output.toString('latin1').replaceAll('\n', ''), 'hex')
  }
}

interface Wanted {
  gitDirectory: string
  selection: Selection
}

const empty: Order = { ids: Buffer.alloc(0), complete: false, history: undefined }

function join(ids: Buffer, more: Buffer): Buffer {
  return ids.length === 0 ? more : Buffer.concat([ids, more])
}

function hashes(ids: Buffer): string[] {
  const text = ids.toString('hex')
  return Array.from({ length: ids.length / idBytes }, (_, index) =>
    text.slice(index * 2 * idBytes, (index + 1) * 2 * idBytes),
  )
}
