import type { Graph, Tables } from './graph.ts'
import { commitBytes, noParent, readLong, type Layer } from './graph_file.ts'
import { Slice } from '../event_loop.ts'

const checkEvery = 1_024
const more = 0x80000000
const roomForNew = 64

/**
 * Decodes the files into tables; what `earlier` decoded of the same lowest files is copied. Undefined when a file
 * refers to what does not exist, or when levels do not rise from parent to child: that also rules out circles.
 */
export async function decode(
  layers: readonly Layer[],
  earlier: Graph | undefined,
): Promise<Tables | undefined> {
  const last = layers.at(-1)
  const size = (last === undefined ? 0 : last.base + last.count) + roomForNew
  const tables: Tables = {
    first: new Int32Array(size),
    second: new Int32Array(size),
    time: new Float64Array(size),
    level: new Uint32Array(size),
    octopus: [],
  }
  const kept = layers.findIndex((layer, index) => layer !== earlier?.layers[index])
  const fresh = layers.slice(kept === -1 ? layers.length : kept)
  const start = fresh[0]?.base ?? size - roomForNew
  if (earlier !== undefined && start > 0) copy(earlier, tables, start)
  const slice = new Slice()
  for (const layer of fresh) {
    const budget = { edges: layer.edges.count }
    for (let from = 0; from < layer.count; from += checkEvery) {
      const to = Math.min(from + checkEvery, layer.count)
      if (!decodeRange(layer, tables, { from, to, budget })) return undefined
      if (slice.isOver()) await slice.rest()
    }
  }
  // Parents may stand behind their children in a file, so levels can be compared only now.
  for (let from = start; from < size - roomForNew; from += checkEvery) {
    if (!levelsRise(tables, { from, to: Math.min(from + checkEvery, size - roomForNew) })) return undefined
    if (slice.isOver()) await slice.rest()
  }
  return tables
}

function copy(earlier: Graph, tables: Tables, size: number): void {
  tables.first.set(earlier.first.subarray(0, size))
  tables.second.set(earlier.second.subarray(0, size))
  tables.time.set(earlier.time.subarray(0, size))
  tables.level.set(earlier.level.subarray(0, size))
  tables.octopus.push(...earlier.octopus)
}

interface Range {
  from: number
  to: number
}

/** `budget.edges` is how many entries the lists of parents may still have: lists that overlap could add up to any size. */
function decodeRange(
  layer: Layer,
  tables: Tables,
  { from, to, budget }: Range & { budget: { edges: number } },
): boolean {
  const { bytes, base, count } = layer
  const limit = base + count
  for (let index = from; index < to; index += 1) {
    const at = layer.commits + index * commitBytes + 20
    const position = base + index
    const first = bytes.readUInt32BE(at)
    const second = bytes.readUInt32BE(at + 4)
    const mixed = bytes.readUInt32BE(at + 8)
    tables.time[position] = (mixed & 3) * 2 ** 32 + bytes.readUInt32BE(at + 12)
    tables.level[position] = mixed >>> 2
    tables.first[position] = first === noParent ? -1 : first
    tables.second[position] = -1
    // A commit without a level comes from a git that did not know them.
    if (mixed >>> 2 === 0 || (first !== noParent && first >= limit)) return false
    if (second === noParent) continue
    if (first === noParent) return false
    if (second < more) {
      if (second >= limit) return false
      tables.second[position] = second
    } else {
      const others = readEdges(layer, second - more)
      budget.edges -= others?.length ?? 0
      if (others === undefined || budget.edges < 0) return false
      tables.second[position] = -2 - tables.octopus.length
      tables.octopus.push(others)
    }
  }
  return true
}

/** The parents in the list that starts at `index`; undefined when the list leaves the chunk or names what is not there. */
function readEdges({ bytes, base, count, edges }: Layer, index: number): number[] | undefined {
  const parents: number[] = []
  for (let at = index; at < edges.count; at += 1) {
    const edge = bytes.readUInt32BE(edges.at + at * 4)
    const parent = edge & (more - 1)
    if (parent >= base + count) return undefined
    parents.push(parent)
    if (edge >= more) return parents
  }
  return undefined
}

function levelsRise({ first, second, level, octopus }: Tables, { from, to }: Range): boolean {
  for (let position = from; position < to; position += 1) {
    const own = level[position] ?? 0
    const one = first[position] ?? -1
    const two = second[position] ?? -1
    if (one >= 0 && (level[one] ?? 0) >= own) return false
    if (two >= 0 && (level[two] ?? 0) >= own) return false
    if (two < -1 && octopus[-2 - two]?.some((parent) => (level[parent] ?? 0) >= own) !== false) return false
  }
  return true
}

const generationsOf = new WeakMap<Graph, Float64Array>()

/** The numbers by which git orders commits in topological walks, for those that the files hold; all others go before. */
export function generations(graph: Graph): Float64Array {
  const known = generationsOf.get(graph)
  if (known !== undefined) return known
  const result = new Float64Array(graph.filed)
  for (const layer of graph.layers) {
    const { bytes, base, count, offsets } = layer
    for (let index = 0; index < count; index += 1) {
      const position = base + index
      if (!graph.hasOffsets || offsets === undefined) {
        result[position] = graph.level[position] ?? 0
        continue
      }
      const offset = bytes.readUInt32BE(offsets.at + index * 4)
      const wide = offset - more
      const isWide = wide >= 0 && wide < offsets.wideCount
      const real = isWide ? readLong(bytes, offsets.wideAt + wide * 8) : offset
      result[position] = (graph.time[position] ?? 0) + real
    }
  }
  generationsOf.set(graph, result)
  return result
}
