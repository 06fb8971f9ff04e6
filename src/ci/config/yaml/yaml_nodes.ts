import { isAlias, isMap, isScalar, isSeq, type Node, type YAMLMap } from 'yaml'
import { Reference, isHash, isList, newHash, type Hash, type Tree } from './tree.ts'
import { TooBig, YamlFault } from './config_fault.ts'

export interface YamlLimits {
  /** Characters of keys and values, aliases counted as often as they stand. */
  readonly bytes: number
  readonly depth: number
}

interface Read {
  readonly value: Tree
  readonly size: number
  readonly depth: number
}
interface NodeReader {
  /** Adds the entries of one root mapping; `at` hears of each key with its position. */
  readonly add: (contents: Node | null, at: (key: string, position: number) => void) => void
  /** All entries; undefined where none was added. */
  readonly result: () => Hash | undefined
}

/**
 * Turns YAML nodes into plain values. An alias shares the value of its anchor instead of a copy, so that work is linear in
 * the text; the size that the copies would have is what the limit is on.
 */
export function readNodes(limits: YamlLimits): NodeReader {
  const anchors = new Map<string, Read>()
  const root = newHash()
  let total = 0
  let found = false

  const readNode = (node: unknown): Read => {
    if (isAlias(node)) {
      const known = anchors.get(node.source)
      if (known === undefined) throw new YamlFault(`(<unknown>): Unknown alias: ${node.source}`)
      return known
    }
    const read = readValue(node)
    if (read.size > limits.bytes || read.depth > limits.depth) throw new TooBig()
    const anchor = (node as { anchor?: string } | null)?.anchor
    if (anchor !== undefined) anchors.set(anchor, read)
    return read
  }
  const readValue = (node: unknown): Read => {
    if (isScalar(node)) return readScalar(node.value)
    if (isSeq(node)) return sum(node.items.map(readNode), (values) => values)
    if (isMap(node)) return readMap(node)
    return { value: null, size: 1, depth: 1 }
  }
  const readMap = (map: YAMLMap): Read => {
    const hash = newHash()
    const parts: Read[] = []
    for (const { key, value } of map.items) {
      const name = readNode(key)
      const read = readNode(value)
      parts.push(name, read)
      if (isMergeKey(key)) mergeInto(hash, read.value)
      else hash[keyText(name.value)] = read.value
    }
    return sum(parts, () => hash)
  }
  return {
    add: (contents, at) => {
      if (contents === null) return
      if (!isMap(contents)) throw new YamlFault('Invalid configuration format')
      found = true
      for (const { key } of contents.items)
        if (isScalar(key) && key.range) at(String(key.value), key.range[0])
      const read = readNode(contents)
      total += read.size
      if (total > limits.bytes) throw new TooBig()
      Object.assign(root, read.value)
    },
    result: () => (found ? root : undefined),
  }
}

const readScalar = (value: unknown): Read => {
  if (typeof value === 'string') return { value, size: value.length + 1, depth: 1 }
  if (typeof value === 'bigint') return { value: value.toString(), size: 20, depth: 1 }
  const plain = typeof value === 'number' || typeof value === 'boolean' || value instanceof Reference
  return { value: plain ? value : null, size: 8, depth: 1 }
}

function sum(parts: readonly Read[], value: (values: Tree[]) => Tree): Read {
  let [size, depth] = [1, 0]
  for (const part of parts) {
    size += part.size
    depth = Math.max(depth, part.depth)
  }
  return { value: value(parts.map((part) => part.value)), size, depth: depth + 1 }
}

const keyText = (key: Tree): string =>
  typeof key === 'string' || typeof key === 'number' || typeof key === 'boolean' ? String(key) : ''

/** The parser shows the key `<<` as a symbol of that name. */
const isMergeKey = (key: unknown): boolean =>
  isScalar(key) && (typeof key.value === 'symbol' || (key.value === '<<' && key.type === 'PLAIN'))

/** `<<` adds what the hash does not have; of several, the first wins. What comes later in the hash overrides. */
function mergeInto(hash: Record<string, Tree>, value: Tree): void {
  for (const source of isList(value) ? value : [value])
    if (isHash(source))
      for (const [key, entry] of Object.entries(source)) if (!(key in hash)) hash[key] = entry
}
