import type { Variable } from './plan.ts'

/** A variable by its name; the strongest of several. */
export type Find = (key: string) => Variable | undefined

const REFERENCE = /\$\$|\$(\w+)|\$\{(\w+)\}|%(\w+)%/g
/** A text that grows beyond this stays unexpanded from there on. */
const MAX_EXPANDED_CHARACTERS = 65_536

/**
 * Puts values in the place of `$x`, `${x}` and `%x%`, and `$` in that of `$$`. Values expand in turn, unless they are raw
 * or files; unknown names, and those on a cycle, stay as they are.
 */
export function expand(text: string, find: Find): string {
  if (!/[$%]/.test(text)) return text
  return expandIn(text, find, { open: new Set(), done: new Map() })
}

interface Walk {
  /** Names that are being expanded. */
  readonly open: Set<string>
  readonly done: Map<string, string>
}

function expandIn(text: string, find: Find, walk: Walk): string {
  let budget = MAX_EXPANDED_CHARACTERS
  return text.replaceAll(REFERENCE, (match: string, ...names: (string | undefined)[]) => {
    if (match === '$$') return '$'
    const value = valueOf(names[0] ?? names[1] ?? names[2] ?? '', find, walk)
    if (value === undefined || value.length > budget) return match
    budget -= value.length
    return value
  })
}

function valueOf(name: string, find: Find, walk: Walk): string | undefined {
  const known = walk.done.get(name)
  if (known !== undefined) return known
  const variable = find(name)
  if (variable === undefined || variable.file === true || walk.open.has(name)) return undefined
  if (variable.raw === true || !/[$%]/.test(variable.value)) return variable.value
  walk.open.add(name)
  const value = expandIn(variable.value, find, walk)
  walk.open.delete(name)
  walk.done.set(name, value)
  return value
}

/** A longer chain of variables counts as a cycle. */
const MAX_CHAIN = 500

/** The first cycle among variables that expand into each other, as their names; undefined where there is none. */
export function findCycle(variables: readonly Variable[]): string[] | undefined {
  if (!variables.some(({ value }) => /[$%]/.test(value))) return undefined
  const byKey = new Map(variables.map((variable) => [variable.key, variable]))
  const done = new Set<string>()
  for (const start of byKey.keys()) {
    const path: string[] = []
    const visit = (key: string): string[] | undefined => {
      const at = path.indexOf(key)
      if (at >= 0) return path.slice(at)
      const variable = byKey.get(key)
      if (variable === undefined || variable.raw === true || done.has(key)) return undefined
      if (path.length >= MAX_CHAIN) return path
      path.push(key)
      for (const match of variable.value.matchAll(REFERENCE)) {
        const name = match[1] ?? match[2] ?? match[3]
        const cycle = name === undefined ? undefined : visit(name)
        if (cycle !== undefined) return cycle
      }
      path.pop()
      done.add(key)
      return undefined
    }
    const cycle = visit(start)
    if (cycle !== undefined) return cycle
  }
  return undefined
}

/** Variables by key, later lists winning: the precedence of a job's variables from the weakest to the strongest. */
export function layer(...lists: readonly (readonly Variable[])[]): Variable[] {
  const byKey = new Map<string, Variable>()
  for (const list of lists) for (const variable of list) byKey.set(variable.key, variable)
  return [...byKey.values()]
}

/** Looks names up in several layers, the strongest first, without copying them. */
export function findIn(...layers: readonly ReadonlyMap<string, Variable>[]): Find {
  return (key) => {
    for (const variables of layers) {
      const found = variables.get(key)
      if (found !== undefined) return found
    }
    return undefined
  }
}
export const byKey = (variables: readonly Variable[]): ReadonlyMap<string, Variable> =>
  new Map(variables.map((variable) => [variable.key, variable]))
