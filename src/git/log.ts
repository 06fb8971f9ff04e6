import { createHash } from 'node:crypto'
import type { LRUCache } from 'lru-cache'
import { isSha, treePath } from './names.ts'
import type { RunOptions } from './spawner.ts'

/** Which commits are listed. Exactly one of `from` and `all` is given. */
export interface LogQuery {
  /** Full hashes from which history is walked. */
  from?: readonly string[]
  /** True to walk from every branch and tag. */
  all?: true
  /** Full hashes whose history is left out, as `exclude..from`. */
  exclude?: readonly string[]
  /** Only commits that changed this file or directory; taken literally; empty for no filter. */
  path?: string
  /** Only commits whose author, as `Name <email>`, holds this text; literal, either case; empty for no filter. */
  author?: string
  /** Earliest commit time, inclusive: a Date or Unix seconds. As in git, the walk does not look behind older commits. */
  since?: Date | number
  /** Latest commit time, inclusive: a Date or Unix seconds. */
  until?: Date | number
  firstParent?: boolean
  /** `default` is newest first by commit time; `topo` shows no parent before all its children, branch by branch. */
  order?: 'default' | 'topo'
  skip: number
  limit: number
}

/** The ids of a walk so far, 20 bytes each, and whether the walk has reached its end. */
export interface Order {
  ids: Buffer
  complete: boolean
}

type Run = (args: readonly string[], options: RunOptions) => Promise<Buffer>

const idBytes = 20
const firstStride = 256
const growth = 4
const maxOrderBytes = 16 * 1024 * 1024
const maxAuthorBytes = 1_000
const maxTimestamp = 2 ** 40

/**
 * Walks history with `git rev-list` and remembers how far it got, by (repository, tips, filters): all of it immutable,
 * so an entry never grows stale. The first page of a walk reads a stride ahead, later ones go further geometrically,
 * so that the whole of a walk is read about once whatever page is asked for first.
 */
export class Walks {
  readonly #run: Run
  readonly #orders: LRUCache<string, Order>
  readonly #growing = new Map<string, Promise<Order>>()

  constructor(run: Run, orders: LRUCache<string, Order>) {
    this.#run = run
    this.#orders = orders
  }

  /**
   * The hashes of `query.limit` commits after the first `query.skip`.
   * Throws TypeError for a query that is no query, GitError when git fails (an unknown hash included).
   */
  async page(gitDirectory: string, query: LogQuery): Promise<string[]> {
    checkQuery(query)
    const filters = filterArguments(query)
    const tips = query.all === true ? await this.#allTips(gitDirectory) : [...(query.from ?? [])]
    if (filters === undefined || tips.length === 0 || query.limit === 0) return []
    const input = [...tips, ...(query.exclude ?? []).map((sha) => `^${sha}`), ''].join('\n')
    const walk = {
      gitDirectory,
      filters,
      input,
      eager: query.author === undefined && query.path === undefined,
    }
    const end = query.skip + query.limit
    if (end * idBytes > maxOrderBytes) {
      return hashes(await this.#read(walk, query.skip, query.limit))
    }
    const key = `${gitDirectory}\0${createHash('sha256')
      .update(JSON.stringify([filters, input]))
      .digest('base64')}`
    const { ids } = await this.#upTo(key, walk, end)
    return hashes(ids.subarray(query.skip * idBytes, end * idBytes))
  }

  /** The order under `key`, grown until it holds `end` ids or all; callers of the same order share one walk. */
  async #upTo(key: string, walk: Walk, end: number): Promise<Order> {
    let order = this.#orders.get(key) ?? empty
    while (!order.complete && order.ids.length < end * idBytes) {
      order = await (this.#growing.get(key) ?? this.#start(key, walk, { order, end }))
    }
    return order
  }

  async #start(key: string, walk: Walk, from: { order: Order; end: number }): Promise<Order> {
    const step = this.#grow(walk, from.order, from.end)
    this.#growing.set(key, step)
    try {
      const grown = await step
      this.#orders.set(key, grown)
      return grown
    } finally {
      this.#growing.delete(key)
    }
  }

  async #grow(walk: Walk, order: Order, end: number): Promise<Order> {
    const known = order.ids.length / idBytes
    // A filter can make each further match as dear as all the history before it: then read no more than is asked.
    const stride = known === 0 ? (walk.eager ? firstStride : 0) : known * growth
    const target = Math.min(Math.max(end, stride), maxOrderBytes / idBytes)
    const more = await this.#read(walk, known, target - known)
    return { ids: Buffer.concat([order.ids, more]), complete: more.length < (target - known) * idBytes }
  }

  async #read(walk: Walk, skip: number, count: number): Promise<Buffer> {
    const args = ['rev-list', `--skip=${skip}`, `--max-count=${count}`, ...walk.filters.options, '--stdin']
    if (walk.filters.path !== undefined) args.push('--', walk.filters.path)
    const { gitDirectory, input } = walk
    const output = await this.#run(args, { gitDirectory, input, maxBytes: 64 + count * (2 * idBytes + 1) })
    return Buffer.from(output.toString('latin1').replaceAll('\n', ''), 'hex')
  }

  /** The targets of all branches and tags in git's own order; asked anew each time, as refs have no cheap fingerprint. */
  async #allTips(gitDirectory: string): Promise<string[]> {
    const args = ['for-each-ref', '--format=%(objectname)', 'refs/heads', 'refs/tags']
    const output = await this.#run(args, { gitDirectory })
    return [...new Set(output.toString('latin1').split('\n').filter(isSha))]
  }
}

interface Walk {
  gitDirectory: string
  filters: Filters
  input: string
  eager: boolean
}

interface Filters {
  options: string[]
  path: string | undefined
}

const empty: Order = { ids: Buffer.alloc(0), complete: false }

function checkQuery(query: LogQuery): void {
  const shas = [...(query.from ?? []), ...(query.exclude ?? [])]
  if (!shas.every(isSha)) throw new TypeError('A log starts and ends at full hashes')
  if ((query.from === undefined) === (query.all === undefined))
    throw new TypeError('A log needs `from` or `all`')
  for (const count of [query.skip, query.limit]) {
    if (!Number.isSafeInteger(count) || count < 0) throw new TypeError('`skip` and `limit` are whole numbers')
  }
}

/** The options of rev-list for the filters; undefined when no commit can pass them. */
function filterArguments(query: LogQuery): Filters | undefined {
  const options: string[] = []
  if (query.firstParent === true) options.push('--first-parent')
  if (query.order === 'topo') options.push('--topo-order')
  const since = query.since === undefined ? 0 : Math.ceil(seconds(query.since))
  const until = query.until === undefined ? maxTimestamp : Math.floor(seconds(query.until))
  if (until < 0 || since >= maxTimestamp) return undefined
  // Only the form "@seconds zone" is read by git as exactly that number.
  if (since > 0) options.push(`--since=@${since} +0000`)
  if (until < maxTimestamp) options.push(`--until=@${until} +0000`)
  const author = query.author ?? ''
  // git reads a line feed in a pattern as "or"; no author line can hold one, nor a NUL.
  if (/[\n\0]/.test(author) || Buffer.byteLength(author) > maxAuthorBytes) return undefined
  if (author !== '') options.push('--fixed-strings', '--regexp-ignore-case', `--author=${author}`)
  if (query.path === undefined || query.path === '') return { options, path: undefined }
  const path = treePath(query.path)
  return path === undefined ? undefined : { options, path }
}

function seconds(moment: Date | number): number {
  const value = typeof moment === 'number' ? moment : moment.getTime() / 1_000
  if (Number.isNaN(value)) throw new TypeError('`since` and `until` are moments')
  return value
}

function hashes(ids: Buffer): string[] {
  const text = ids.toString('hex')
  return Array.from({ length: ids.length / idBytes }, (_, index) =>
    text.slice(index * 2 * idBytes, (index + 1) * 2 * idBytes),
  )
}
