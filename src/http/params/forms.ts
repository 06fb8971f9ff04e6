import { LongText } from './long_text.ts'
import { badUrl, bodyTooComplex, type Problem } from '../problems.ts'

/** Nested parameters as clients write them. No prototype, so no name is special. */
export interface Tree {
  [name: string]: Value
}
export type Value = string | number | boolean | null | Tree | LongText | readonly Value[]

/** `x=1&x=2`: the last one for who asks for one value, all of them for who asks for a list. */
export class Repeated extends Array<Value> {
  /** A derived array is a plain list. */
  static override get [Symbol.species](): ArrayConstructor {
    return Array
  }
}

const DEPTH = 32
const NAMES = 50_000

export const emptyTree = (): Tree => Object.create(null) as Tree

/**
 * Reads `a=1&b[]=2&c[k]=3&d[][e]=4&f[0][g]=5` from a query or an urlencoded body. Throws a Problem when it cannot, and
 * `undecodable` for what is no text.
 */
export function parseForm(text: string, undecodable: () => Problem = badUrl): Tree {
  if (text === '') return emptyTree()
  // Input beyond the limit is not split: a body may hold nothing but separators.
  const parts = text.split('&', NAMES + 1)
  if (parts.length > NAMES) throw bodyTooComplex(`${NAMES} parameters`)
  return nest(
    parts
      .filter((part) => part !== '')
      .map((part) => {
        const cut = part.indexOf('=')
        return cut === -1 ? [decode(part), ''] : [decode(part.slice(0, cut)), decode(part.slice(cut + 1))]
      }),
  )

  function decode(encoded: string): string {
    try {
      return decodeURIComponent(encoded.replaceAll('+', ' '))
    } catch {
      throw undecodable()
    }
  }
}

/** The same for names and values that are already decoded: the fields of a multipart form. */
export function nest(pairs: readonly (readonly string[])[]): Tree {
  if (pairs.length > NAMES) throw bodyTooComplex(`${NAMES} parameters`)
  const root = emptyTree()
  for (const [name = '', value = ''] of pairs) {
    const path = split(name)
    if (path.length > DEPTH) throw bodyTooComplex(`${DEPTH} levels`)
    put(root, path, value)
  }
  return densified(root) as Tree
}

/** `a[b][]` is `['a', 'b', '']`; a name whose brackets do not close is a plain name. */
function split(name: string): string[] {
  const open = name.indexOf('[')
  if (open <= 0 || !name.endsWith(']')) return [name]
  return [name.slice(0, open), ...name.slice(open + 1, -1).split('][', DEPTH + 1)]
}

function put(root: Tree, path: readonly string[], value: string): void {
  let at: Tree | Value[] = root
  for (let i = 0; i < path.length; i++) {
    const next = path[i + 1]
    const fresh = (): Value => (next === undefined ? value : next === '' ? [] : emptyTree())
    at = Array.isArray(at) ? intoList(at, path, i, fresh) : intoTree(at, path[i] ?? '', next, fresh)
  }
}

type Node = Tree | Value[]

function intoTree(at: Tree, name: string, next: string | undefined, fresh: () => Value): Node {
  const here = at[name]
  if (next === undefined) {
    if (here === undefined) at[name] = fresh()
    else if (here instanceof Repeated) here.push(fresh())
    else at[name] = Repeated.from<Value>([here, fresh()].flat())
    return at
  }
  if (here !== undefined && Array.isArray(here) === (next === '') && typeof here === 'object')
    return here as Node
  return (at[name] = fresh()) as Node
}

/** Inside `[]` a new element starts when the field just read already stands in the current one. */
function intoList(at: Value[], path: readonly string[], i: number, fresh: () => Value): Node {
  const last = at.at(-1)
  const field = path[i + 1]
  const joins = field !== undefined && field !== '' && isTree(last) && !stands(last, path, i + 1)
  if (joins) return last
  const made = fresh()
  at.push(made)
  return made as Node
}

function stands(element: Tree, path: readonly string[], i: number): boolean {
  const here = element[path[i] ?? '']
  if (here === undefined) return false
  const next = path[i + 1]
  if (next === undefined) return true
  return isTree(here) ? stands(here, path, i + 1) : next !== ''
}

export const isTree = (value: unknown): value is Tree =>
  typeof value === 'object' && value !== null && !Array.isArray(value) && !(value instanceof LongText)

/** Turns `{ 0: …, 1: … }` into a list. Indexes with holes stay a tree, which no list parameter accepts. */
function densified(value: Value): Value {
  if (typeof value !== 'object' || value === null) return value
  if (Array.isArray(value)) {
    for (let i = 0; i < value.length; i++) (value as Value[])[i] = densified(value[i] ?? null)
    return value
  }
  const tree = value as Tree
  const names = Object.keys(tree)
  for (const name of names) tree[name] = densified(tree[name] ?? null)
  const dense = names.length > 0 && names.every((name, i) => name === String(i))
  return dense ? names.map((name) => tree[name] ?? null) : tree
}
