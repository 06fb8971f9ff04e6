import { ConfigFault } from './config_fault.ts'
import { Reference, isHash, isList, newHash, type Hash, type Tree } from './tree.ts'

const MAX_REFERENCE_DEPTH = 10

/**
 * Puts the named node in the place of each `!reference`. A node that is named often is shared, so work is linear; `limit`
 * is on the size that copies would have. Throws ConfigFault.
 */
export async function resolveReferences(
  root: Hash,
  limit: number,
  breathe: () => Promise<void> | undefined,
): Promise<Hash> {
  const resolver = new Resolver(root)
  const result = newHash()
  let total = 0
  for (const [key, value] of Object.entries(root)) {
    await breathe()
    const resolved = resolver.resolve(value)
    result[key] = resolved
    total += resolver.sizeOf(resolved)
    if (total > limit) throw new ConfigFault('The parsed YAML is too big')
  }
  return result
}

class Resolver {
  readonly #root: Hash
  readonly #done = new Map<object, Tree>()
  readonly #byPath = new Map<string, Tree>()
  readonly #sizes = new Map<object, number>()
  readonly #open: string[] = []

  constructor(root: Hash) {
    this.#root = root
  }

  resolve(value: Tree): Tree {
    if (value instanceof Reference) return this.#follow(value)
    if (typeof value !== 'object' || value === null) return value
    const known = this.#done.get(value)
    if (known !== undefined) return known
    const resolved = isHash(value) ? this.#mapHash(value) : this.#mapList(value)
    this.#done.set(value, resolved)
    return resolved
  }

  /** The size of a value with everything in it, shared parts counted as often as they stand. */
  sizeOf(value: Tree): number {
    if (typeof value === 'string') return value.length + 1
    if (typeof value !== 'object' || value === null) return 8
    const known = this.#sizes.get(value)
    if (known !== undefined) return known
    let size = 1
    if (isList(value)) for (const each of value) size += this.sizeOf(each)
    if (isHash(value)) for (const [key, each] of Object.entries(value)) size += key.length + this.sizeOf(each)
    this.#sizes.set(value, size)
    return size
  }

  #mapHash(value: Hash): Tree {
    let changed = false
    const copy = newHash()
    for (const [key, each] of Object.entries(value)) {
      const resolved = this.resolve(each)
      changed ||= resolved !== each
      copy[key] = resolved
    }
    return changed ? copy : value
  }
  #mapList(value: readonly Tree[]): Tree {
    const resolved = value.map((each) => this.resolve(each))
    return resolved.some((each, at) => each !== value[at]) ? resolved : value
  }

  #follow(reference: Reference): Tree {
    const text = reference.toString()
    if (reference.path === null) throw new ConfigFault(`${text} is not valid`)
    const known = this.#byPath.get(text)
    if (known !== undefined) return known
    if (this.#open.includes(text)) throw new ConfigFault(`${text} is part of a circular chain`)
    if (this.#open.length >= MAX_REFERENCE_DEPTH) throw new ConfigFault(`${text} is nested too deep`)
    let node: Tree | undefined = this.#root
    for (const key of reference.path) node = isHash(node) && key in node ? node[key] : undefined
    if (node === undefined) throw new ConfigFault(`${text} could not be found`)
    this.#open.push(text)
    const resolved = this.resolve(node)
    this.#open.pop()
    this.#byPath.set(text, resolved)
    return resolved
  }
}
