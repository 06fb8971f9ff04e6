import { ConfigFault } from './config_fault.ts'
import { isHash, newHash, type Hash, type Tree } from './tree.ts'

const MAX_EXTENDS_DEPTH = 10
/** Keys that merging may copy in all: many jobs that extend one large base would copy it as often. */
const MAX_COPIED_KEYS = 500_000

/** Merges into each job what it extends, from the last named base to the job itself. Throws ConfigFault. */
export async function resolveExtends(root: Hash, breathe: () => Promise<void> | undefined): Promise<Hash> {
  const done = new Map<string, Hash>()
  const result = newHash()
  const budget = { copied: 0 }
  for (const [name, value] of Object.entries(root)) {
    await breathe()
    result[name] = isHash(value) ? extend({ root, done, budget, chain: [] }, name, value) : value
  }
  return result
}

interface Walk {
  readonly root: Hash
  readonly done: Map<string, Hash>
  readonly budget: { copied: number }
  /** The names that led here. */
  readonly chain: readonly string[]
}

function extend(walk: Walk, name: string, job: Hash): Hash {
  const known = walk.done.get(name)
  if (known !== undefined) return known
  if (job['extends'] === undefined || job['extends'] === null) return job
  const bases = basesOf(walk, name, job)
  let merged: Tree = newHash()
  for (const base of bases) {
    if (walk.chain.includes(base) || base === name)
      throw new ConfigFault(`${name}: circular dependency detected in \`extends\``)
    if (walk.chain.length + 1 > MAX_EXTENDS_DEPTH)
      throw new ConfigFault(`${name}: nesting too deep in \`extends\``)
    const value = walk.root[base]
    if (isHash(value))
      merged = mergeCounted(
        walk.budget,
        merged,
        extend({ ...walk, chain: [...walk.chain, name] }, base, value),
      )
  }
  const own = mergeCounted(walk.budget, merged, job)
  if (walk.chain.length === 0) walk.done.set(name, own)
  return own
}

function basesOf({ root }: Walk, name: string, job: Hash): string[] {
  const given = job['extends']
  const bases = (Array.isArray(given) ? given : [given]).filter((base) => typeof base === 'string')
  const unknown = bases.filter((base) => !(base in root))
  if (unknown.length > 0)
    throw new ConfigFault(`${name}: unknown keys in \`extends\` (${unknown.join(', ')})`)
  const invalid = bases.filter((base) => !isHash(root[base]))
  if (invalid.length > 0)
    throw new ConfigFault(`${name}: invalid base hashes in \`extends\` (${invalid.join(', ')})`)
  return bases
}

function mergeCounted(budget: Walk['budget'], base: Tree | undefined, over: Hash): Hash {
  const merged = newHash()
  if (isHash(base)) for (const [key, value] of Object.entries(base)) merged[key] = value
  for (const [key, value] of Object.entries(over)) {
    const below = merged[key]
    merged[key] = isHash(below) && isHash(value) ? mergeCounted(budget, below, value) : value
  }
  budget.copied += Object.keys(merged).length
  if (budget.copied > MAX_COPIED_KEYS) throw new ConfigFault('The parsed YAML is too big')
  return merged
}
