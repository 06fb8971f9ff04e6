import { bloomOf, type BloomFilters } from './graph_bloom.ts'

/** One commit-graph file, checked to be read within its bounds. Positions inside are `0 … count - 1`, in order of hash. */
export interface Layer {
  /** The checksum of the file: of one name, files are the same. */
  readonly name: string
  readonly bytes: Buffer
  /** The same bytes, to be read word by word. */
  readonly words: DataView
  readonly count: number
  /** How many commits the files below it hold; it refers to them by these lower positions. */
  readonly base: number
  /** Where in `bytes` the chunks begin. */
  readonly fanout: number
  readonly ids: number
  readonly commits: number
  /** Second and later parents of octopus merges. */
  readonly edges: { readonly at: number; readonly count: number }
  /** Corrected commit dates as offsets, for git's newer generation numbers; undefined in files without. */
  readonly offsets: { readonly at: number; readonly wideAt: number; readonly wideCount: number } | undefined
  readonly filters: BloomFilters | undefined
}

/** Bytes of one commit in the chunk of commits: tree, two parents, level and time. */
export const commitBytes = 36
export const idBytes = 20
/** Stands for "no parent" in a file. */
export const noParent = 0x70000000

const headerBytes = 8
const lookupBytes = 12
const trailerBytes = 20
const maxCommits = 0x70000000
const fanoutBytes = 1_024

/**
 * Finds the chunks of a commit-graph file of SHA-1 hashes. Undefined for everything that is not wholly what it claims:
 * the caller then leaves the answer to git.
 */
export function readLayer(name: string, bytes: Buffer, base: number): Layer | undefined {
  if (bytes.length < headerBytes + lookupBytes + trailerBytes + fanoutBytes) return undefined
  // "CGPH", version 1, SHA-1
  if (bytes.readUInt32BE(0) !== 0x43475048 || bytes[4] !== 1 || bytes[5] !== 1) return undefined
  const chunks = readChunks(bytes, bytes[6] ?? 0)
  const fanout = chunks?.get('OIDF')
  const ids = chunks?.get('OIDL')
  const commits = chunks?.get('CDAT')
  if (chunks === undefined || fanout === undefined || ids === undefined || commits === undefined)
    return undefined
  if (fanout.length !== fanoutBytes) return undefined
  const count = bytes.readUInt32BE(fanout.at + 255 * 4)
  if (count === 0 || base + count >= maxCommits) return undefined
  if (ids.length !== count * idBytes || commits.length !== count * commitBytes) return undefined
  if (!isInOrder(bytes, { fanout: fanout.at, ids: ids.at, count })) return undefined
  const edges = chunks.get('EDGE') ?? { at: 0, length: 0 }
  const offsets = chunks.get('GDA2')
  const wide = chunks.get('GDO2') ?? { at: 0, length: 0 }
  return {
    name,
    bytes,
    words: wordsOf(bytes),
    count,
    base,
    fanout: fanout.at,
    ids: ids.at,
    commits: commits.at,
    edges: { at: edges.at, count: Math.floor(edges.length / 4) },
    offsets:
      offsets?.length === count * 4
        ? { at: offsets.at, wideAt: wide.at, wideCount: Math.floor(wide.length / 8) }
        : undefined,
    filters: bloomOf(bytes, count, { index: chunks.get('BIDX'), data: chunks.get('BDAT') }),
  }
}

/** The position of a commit inside the layer; -1 when it is not there. `id` is 20 bytes. */
export function findInLayer(layer: Layer, id: Buffer): number {
  const { bytes, fanout, ids } = layer
  const first = id[0] ?? 0
  let low = first === 0 ? 0 : bytes.readUInt32BE(fanout + (first - 1) * 4)
  let high = bytes.readUInt32BE(fanout + first * 4)
  while (low < high) {
    const middle = (low + high) >>> 1
    const at = ids + middle * idBytes
    const order = id.compare(bytes, at, at + idBytes)
    if (order === 0) return middle
    if (order < 0) high = middle
    else low = middle + 1
  }
  return -1
}

interface Chunk {
  at: number
  length: number
}

function readChunks(bytes: Buffer, count: number): Map<string, Chunk> | undefined {
  const end = bytes.length - trailerBytes
  const chunks = new Map<string, Chunk>()
  if (headerBytes + (count + 1) * lookupBytes > end) return undefined
  for (let index = 0; index < count; index += 1) {
    const row = headerBytes + index * lookupBytes
    const at = readLong(bytes, row + 4)
    const next = readLong(bytes, row + lookupBytes + 4)
    if (at < headerBytes || next < at || next > end) return undefined
    chunks.set(bytes.toString('latin1', row, row + 4), { at, length: next - at })
  }
  return chunks
}

/** Eight bytes as a number; beyond 2^53 it is only good for failing a comparison. */
export function readLong(bytes: Buffer, at: number): number {
  return bytes.readUInt32BE(at) * 2 ** 32 + bytes.readUInt32BE(at + 4)
}

/** A search in a table that is out of order would miss commits, and one with a wrong fan-out would leave the table. */
function isInOrder(
  bytes: Buffer,
  { fanout, ids, count }: Record<'fanout' | 'ids' | 'count', number>,
): boolean {
  let start = 0
  for (let first = 0; first < 256; first += 1) {
    const end = bytes.readUInt32BE(fanout + first * 4)
    if (end < start || end > count) return false
    let last = 0
    for (let index = start; index < end; index += 1) {
      const head = bytes.readUInt32BE(ids + index * idBytes)
      if (head >>> 24 !== first || head < last) return false
      last = head
    }
    start = end
  }
  return true
}

/** The bytes of a buffer, to be read word by word. */
export function wordsOf(bytes: Buffer): DataView {
  return new DataView(bytes.buffer, bytes.byteOffset, bytes.length)
}
