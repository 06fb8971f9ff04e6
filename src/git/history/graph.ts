import { commitBytes, findInLayer, idBytes, wordsOf, type Layer } from './graph_file.ts'
import { AuthorTexts } from './graph_authors.ts'
import type { Links } from './graph_links.ts'

/** Decoded tables of a commit-graph: one number a commit in each table, by position. */
export interface Tables {
  /** Position of the first parent; -1 for a root. */
  first: Int32Array
  /** Position of the second parent; -1 for none; for an octopus -2 - i, where `octopus[i]` lists all but the first. */
  second: Int32Array
  /** Commit time in Unix seconds. */
  time: Float64Array
  /** Larger than the level of every parent; `newLevel` for commits that no file holds. */
  level: Uint32Array
  octopus: number[][]
}

/**
 * The shape of one repository's history: commits are positions, `0 … size - 1`, first those of the commit-graph files,
 * then those written since, which are added as they are met. Whoever holds a position may ask for all its ancestors.
 */
export class Graph implements Tables {
  readonly layers: readonly Layer[]
  /** How many commits the files hold. */
  readonly filed: number
  /** True when every file has git's newer generation numbers, so that git orders by them. */
  readonly hasOffsets: boolean
  first: Int32Array
  second: Int32Array
  time: Float64Array
  level: Uint32Array
  readonly octopus: number[][]
  /** By position: 1 + the number of the author's text in `authors`; 0 while it has not been read. */
  authorOf: Int32Array
  readonly authors: AuthorTexts
  /** How many commits some commits have behind them, themselves included: from these other numbers are found quickly. */
  readonly counted = new Map<number, number>()
  #size: number
  #newIds: Buffer
  #newWords: DataView
  readonly #newPositions = new Map<string, number>()
  readonly #newTrees: string[] = []

  /** Known authors of `earlier` are taken over for the files that both have. */
  constructor(layers: readonly Layer[], tables: Tables, earlier?: Graph) {
    this.layers = layers
    const last = layers.at(-1)
    this.filed = last === undefined ? 0 : last.base + last.count
    this.hasOffsets = layers.every(({ offsets }) => offsets !== undefined)
    this.#size = this.filed
    this.#newIds = Buffer.alloc((tables.first.length - this.filed) * idBytes)
    this.#newWords = wordsOf(this.#newIds)
    this.first = tables.first
    this.second = tables.second
    this.time = tables.time
    this.level = tables.level
    this.octopus = tables.octopus
    this.authorOf = new Int32Array(tables.first.length)
    this.authors = earlier?.authors ?? new AuthorTexts()
    if (earlier !== undefined) this.#takeOver(earlier)
  }

  /** How many commits are known. */
  get size(): number {
    return this.#size
  }

  /** About how many bytes of memory it takes. */
  get bytes(): number {
    const files = this.layers.reduce((sum, { bytes }) => sum + bytes.length, 0)
    return 4_096 + files + 28 * this.first.length + 250 * this.#newTrees.length
  }

  /** The position of the commit with this full hash; -1 when it is in no file and has not been added. */
  find(sha: string): number {
    const added = this.#newPositions.get(sha)
    if (added !== undefined) return added
    const id = Buffer.from(sha, 'hex')
    for (const layer of this.layers) {
      const found = findInLayer(layer, id)
      if (found !== -1) return layer.base + found
    }
    return -1
  }

  /** The hashes of commits, 20 bytes each. */
  ids(positions: readonly number[]): Buffer {
    const ids = Buffer.allocUnsafeSlow(positions.length * idBytes)
    const target = new DataView(ids.buffer)
    for (const [index, position] of positions.entries()) {
      const layer = position < this.filed ? this.layerOf(position) : undefined
      const words = layer?.words ?? this.#newWords
      const from =
        layer === undefined
          ? (position - this.filed) * idBytes
          : layer.ids + (position - layer.base) * idBytes
      // Word by word: for so few bytes a call of copy() takes several times as long.
      for (let at = 0; at < idBytes; at += 4)
        target.setUint32(index * idBytes + at, words.getUint32(from + at))
    }
    return ids
  }

  /** The full hash of a commit. */
  sha(position: number): string {
    return this.ids([position]).toString('hex')
  }

  /** The hash of a commit's tree. */
  tree(position: number): string {
    if (position >= this.filed) return this.#newTrees[position - this.filed] ?? ''
    const { bytes, commits, base } = this.layerOf(position)
    const from = commits + (position - base) * commitBytes
    return bytes.toString('hex', from, from + idBytes)
  }

  /** The positions of a commit's parents, in order. */
  parents(position: number): number[] {
    const first = this.first[position] ?? -1
    const second = this.second[position] ?? -1
    if (first < 0) return []
    if (second === -1) return [first]
    return second < 0 ? [first, ...(this.octopus[-2 - second] ?? [])] : [first, second]
  }

  /** The file that holds a position below `filed`. */
  layerOf(position: number): Layer {
    for (let index = this.layers.length - 1; index >= 0; index -= 1) {
      const layer = this.layers[index]
      if (layer !== undefined && position >= layer.base) return layer
    }
    throw new RangeError('No commit is at this position')
  }

  /** Adds commits that no file holds, by hash; each of their parents must be known or among them. Those known are skipped. */
  add(commits: ReadonlyMap<string, Links>): void {
    const fresh = [...commits].filter(([sha]) => this.find(sha) === -1)
    this.#reserve(this.#size + fresh.length)
    for (const [sha] of fresh) {
      Buffer.from(sha, 'hex').copy(this.#newIds, (this.#size - this.filed) * idBytes)
      this.#newPositions.set(sha, this.#size)
      this.#size += 1
    }
    for (const [sha, { tree, parents, time }] of fresh) {
      const position = this.find(sha)
      const [first = -1, second = -1, ...rest] = parents.map((parent) => this.find(parent))
      this.first[position] = first
      this.second[position] = rest.length === 0 ? second : -2 - this.octopus.length
      if (rest.length > 0) this.octopus.push([second, ...rest])
      this.time[position] = time
      this.#newTrees.push(tree)
    }
    this.#setLevels(fresh.map(([sha]) => this.find(sha)))
  }

  #setLevels(commits: number[]): void {
    for (let commit = commits.at(-1); commit !== undefined; commit = commits.at(-1)) {
      const parents = this.parents(commit)
      const unready = parents.filter((parent) => this.level[parent] === 0)
      if (unready.length > 0) commits.push(...unready)
      else {
        this.level[commit] = 1 + Math.max(0, ...parents.map((parent) => this.level[parent] ?? 0))
        commits.pop()
      }
    }
  }

  #takeOver(earlier: Graph): void {
    const other = this.layers.find((layer, index) => layer !== earlier.layers[index])
    const common = other?.base ?? this.filed
    this.authorOf.set(earlier.authorOf.subarray(0, common))
    for (const [position, count] of earlier.counted) {
      const here = position < common ? position : this.find(earlier.sha(position))
      if (here !== -1) this.counted.set(here, count)
    }
  }

  #reserve(size: number): void {
    // The tables come with room to spare, the hashes with none.
    if (size <= this.first.length && (size - this.filed) * idBytes <= this.#newIds.length) return
    // Room for half as many again as were added, so that adding one by one copies seldom.
    const room = size + 64 + ((size - this.filed) >>> 1)
    const ids = Buffer.alloc((room - this.filed) * idBytes)
    this.#newIds.copy(ids)
    this.#newIds = ids
    this.#newWords = wordsOf(ids)
    this.first = grown(this.first, new Int32Array(room))
    this.second = grown(this.second, new Int32Array(room))
    this.time = grown(this.time, new Float64Array(room))
    this.level = grown(this.level, new Uint32Array(room))
    this.authorOf = grown(this.authorOf, new Int32Array(room))
  }
}

function grown<A extends Int32Array | Float64Array | Uint32Array>(from: A, to: A): A {
  to.set(from)
  return to
}
