// The configuration as plain values: what YAML yields, before and after includes, `extends` and references.

/** `!reference [a, b]`, until `resolveReferences` puts the node in its place. */
export class Reference {
  readonly path: readonly string[] | null
  constructor(path: readonly string[] | null) {
    this.path = path
  }
  toString(): string {
    return this.path === null ? '!reference' : `!reference ${JSON.stringify(this.path).replaceAll(',', ', ')}`
  }
}

export type Tree = null | string | number | boolean | Reference | readonly Tree[] | Hash
/** Without a prototype: `constructor` and `__proto__` are keys like any other. */
export interface Hash {
  readonly [key: string]: Tree
}

export const isHash = (value: Tree | undefined): value is Hash =>
  typeof value === 'object' && value !== null && !Array.isArray(value) && !(value instanceof Reference)
export const isList = (value: Tree | undefined): value is readonly Tree[] => Array.isArray(value)

/** A new, empty hash. */
export const newHash = (): Record<string, Tree> => Object.create(null) as Record<string, Tree>

/** `over` wins; hashes merge key by key, lists and scalars are replaced. Neither argument changes. */
export function deepMerge(base: Tree | undefined, over: Tree): Tree {
  if (!isHash(base) || !isHash(over)) return over
  const merged = newHash()
  for (const [key, value] of Object.entries(base)) merged[key] = value
  for (const [key, value] of Object.entries(over)) merged[key] = deepMerge(base[key], value)
  return merged
}

/** All strings of a list whose nested lists are flattened. */
export const flatten = (value: Tree | undefined): Tree[] =>
  isList(value) ? value.flatMap(flatten) : value === undefined || value === null ? [] : [value]

/** A scalar as it is written; anything else as JSON. */
export const show = (value: Tree | undefined): string =>
  typeof value === 'string' ? value : (JSON.stringify(value) ?? '')
