import { open, readFile, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { decode } from './graph_decode.ts'
import { idBytes, readLayer, type Layer } from './graph_file.ts'
import { Graph } from './graph.ts'

const single = 'objects/info/commit-graph'
const chain = 'objects/info/commit-graphs/commit-graph-chain'
const maxLayers = 64
const chainLine = /^[0-9a-f]{40}$/
const attempts = 3
/** A graph that holds more commits beside its files is begun anew, or it would only grow. */
const maxAdded = 16_000

/**
 * Reads the commit-graph of a repository, a single file or a chain; of the files that `earlier` holds already nothing is
 * read again, and when they are all there are, `earlier` itself is the answer. A repository without one gives a graph that is empty as yet. Undefined when git itself would not use what
 * is there (shallow repositories), when it is damaged, and when it has more than `maxBytes`.
 */
export async function loadGraph(
  gitDirectory: string,
  earlier: Graph | undefined,
  maxBytes: number,
): Promise<Graph | undefined> {
  if ((await sizeOf(join(gitDirectory, 'shallow'))) > 0) return undefined
  const layers = await readLayers(gitDirectory, earlier?.layers ?? [], maxBytes)
  if (layers === undefined) return undefined
  const isSame = layers.length === earlier?.layers.length && layers.every((l, i) => l === earlier.layers[i])
  if (isSame && earlier.size - earlier.filed <= maxAdded) return earlier
  const tables = await decode(layers, earlier)
  return tables === undefined ? undefined : new Graph(layers, tables, earlier)
}

async function readLayers(
  gitDirectory: string,
  earlier: readonly Layer[],
  maxBytes: number,
): Promise<Layer[] | undefined> {
  for (let attempt = 1; ; attempt += 1) {
    const names = await layerNames(gitDirectory)
    if (names === undefined) return undefined
    const layers: Layer[] = []
    let room = maxBytes
    for (const [index, name] of names.entries()) {
      const known = earlier[index]
      const below = layers.at(-1)
      const base = below === undefined ? 0 : below.base + below.count
      const layer =
        known?.name === name.name && known.base === base
          ? known
          : await readOne(join(gitDirectory, name.path), { name: name.name, base, maxBytes: room })
      if (layer === undefined) break
      room -= layer.bytes.length
      layers.push(layer)
    }
    if (layers.length === names.length) return layers
    // A write that happens meanwhile replaces the chain, and removes files that it no longer names.
    if (attempt === attempts) return undefined
  }
}

interface LayerName {
  name: string
  path: string
}

async function layerNames(gitDirectory: string): Promise<LayerName[] | undefined> {
  const alone = await checksumOf(join(gitDirectory, single))
  // As in git, the single file goes before a chain.
  if (alone !== undefined) return [{ name: alone, path: single }]
  const text = await readText(join(gitDirectory, chain))
  const hashes = text.split('\n').filter((line) => line !== '')
  if (hashes.length > maxLayers || !hashes.every((hash) => chainLine.test(hash))) return undefined
  return hashes.map((hash) => ({ name: hash, path: `objects/info/commit-graphs/graph-${hash}.graph` }))
}

/** The checksum at the file's end, by which git calls it when it makes it the lowest of a chain. */
async function checksumOf(file: string): Promise<string | undefined> {
  const handle = await open(file, 'r').catch(() => undefined)
  if (handle === undefined) return undefined
  try {
    const found = await handle.stat()
    const sum = Buffer.alloc(idBytes)
    if (!found.isFile() || found.size < idBytes) return ''
    await handle.read(sum, 0, idBytes, found.size - idBytes)
    return sum.toString('hex')
  } finally {
    await handle.close()
  }
}

async function sizeOf(file: string): Promise<number> {
  const found = await stat(file).catch(() => undefined)
  return found?.size ?? 0
}

async function readText(file: string): Promise<string> {
  return (await sizeOf(file)) > maxLayers * 50 ? '?' : readFile(file, 'latin1').catch(() => '')
}

async function readOne(
  file: string,
  { name, base, maxBytes }: { name: string; base: number; maxBytes: number },
): Promise<Layer | undefined> {
  const handle = await open(file, 'r').catch(() => undefined)
  if (handle === undefined) return undefined
  try {
    const found = await handle.stat()
    if (!found.isFile() || found.size > maxBytes) return undefined
    const bytes = Buffer.allocUnsafeSlow(found.size)
    const { bytesRead } = await handle.read(bytes, 0, bytes.length, 0)
    return bytesRead === bytes.length ? readLayer(name, bytes, base) : undefined
  } finally {
    await handle.close()
  }
}
