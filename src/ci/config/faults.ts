import { isHash, isList, type Hash, type Tree } from './yaml/tree.ts'

// Faults of keywords in the published words: location, attribute, message, the whole text in lower case.

const MAX_FAULTS = 100

export class Faults {
  readonly texts: string[] = []
  add(text: string): void {
    if (this.texts.length < MAX_FAULTS && !this.texts.includes(text)) this.texts.push(text)
  }
}

/** Where a value stands: keys joined by `:`. */
export interface At {
  readonly path: string
  readonly faults: Faults
}
export const below = ({ path, faults }: At, key: string): At => ({
  path: path === '' ? key : `${path}:${key}`,
  faults,
})

/** Reports a fault of the value at `at`, or of one of its attributes. */
export function report(at: At, message: string, attribute = 'config'): void {
  const words = [at.path, attribute.replaceAll('_', ' '), message]
  at.faults.add(
    words
      .filter((word) => word !== '')
      .join(' ')
      .toLowerCase(),
  )
}

/** A check of one value. It reports faults and answers nothing. */
export type Check = (at: At, value: Tree) => void

type Holds = (value: Tree) => boolean
/** A check that reports `message` of the value itself. */
export const must =
  (holds: Holds, message: string): Check =>
  (at, value) => {
    if (!holds(value)) report(at, message)
  }

export const isString = (value: Tree | undefined): value is string => typeof value === 'string'
export const isStrings = (value: Tree | undefined): value is readonly string[] =>
  isList(value) && value.every(isString)
export const isInteger = (value: Tree | undefined): value is number => Number.isSafeInteger(value)
export const isBoolean = (value: Tree | undefined): value is boolean => typeof value === 'boolean'
/** A scalar that stands for a text. */
export const isText = (value: Tree | undefined): value is string | number =>
  typeof value === 'string' || typeof value === 'number'

const MAX_SCRIPT_NESTING = 10
function isNestedStrings(value: Tree, depth = 0): boolean {
  if (isString(value)) return true
  return (
    isList(value) && depth < MAX_SCRIPT_NESTING && value.every((each) => isNestedStrings(each, depth + 1))
  )
}

export const string = must(isString, 'should be a string')
export const bool = must(isBoolean, 'should be a boolean value')
export const strings = must(isStrings, 'should be an array of strings')
export const stringOrStrings = must(
  (value) => isString(value) || isStrings(value),
  'should be an array of strings or a string',
)
export const script = must(
  (value) => isNestedStrings(value),
  'should be a string or a nested array of strings up to 10 levels deep',
)

/** Reports keys that are not among `allowed`. */
function checkKeys(at: At, hash: Hash, allowed: ReadonlyMap<string, unknown>): void {
  const unknown = Object.keys(hash).filter((key) => !allowed.has(key))
  if (unknown.length > 0) report(at, `contains unknown keys: ${unknown.join(', ')}`)
}
export function checkRequired(at: At, hash: Hash, keys: readonly string[]): void {
  const missing = keys.filter((key) => !(key in hash))
  if (missing.length > 0) report(at, `missing required keys: ${missing.join(', ')}`)
}
export function checkTogether(at: At, hash: Hash, keys: readonly string[]): void {
  const found = keys.filter((key) => key in hash)
  if (found.length > 1) report(at, `these keys cannot be used together: ${found.join(', ')}`)
}

/** A check of a hash: known keys only, and each by its own check. */
export function hash(checks: Readonly<Record<string, Check>>, message = 'should be a hash'): Check {
  const byKey = new Map(Object.entries(checks))
  return (at, value) => {
    if (!isHash(value)) return report(at, message)
    checkKeys(at, value, byKey)
    for (const [key, entry] of Object.entries(value)) {
      const check = byKey.get(key)
      if (check !== undefined) check(below(at, key), entry)
    }
  }
}

/** A check whose faults are the attribute's, not the value's own: `jobs:rspec:artifacts name should be a string`. */
export const attribute =
  (holds: Holds, message: string): Check =>
  (at, value) => {
    if (holds(value)) return
    const cut = at.path.lastIndexOf(':')
    report({ ...at, path: at.path.slice(0, Math.max(cut, 0)) }, message, at.path.slice(cut + 1))
  }
export const oneOf = (words: readonly string[], message = `should be one of: ${words.join(', ')}`): Check =>
  attribute((value) => isString(value) && words.includes(value), message)
export const anything: Check = () => {}
