import type { TObject, TSchema } from 'typebox'
import { jsonIn } from './body.ts'
import { dayOf, formats, zoned } from './dates.ts'
import { Repeated, isTree, type Tree, type Value } from './forms.ts'
import { LongText } from './long_text.ts'
import { badParams } from '../problems.ts'

/** The part of JSON Schema that parameters use. */
interface ParamSchema {
  readonly type?: string | readonly string[]
  readonly enum?: readonly unknown[]
  readonly format?: string
  readonly minLength?: number
  readonly maxLength?: number
  /** Of a text in UTF-8. */
  readonly maxBytes?: number
  readonly pattern?: string
  readonly minimum?: number
  readonly maximum?: number
  readonly not?: { readonly const: unknown }
  readonly items?: ParamSchema
  readonly minItems?: number
  /** A list that may be written `a,b`. */
  readonly commas?: boolean
  /** A list or an object without declared properties that may come as JSON text, as clients send it. */
  readonly json?: boolean
  /** A text that no database keeps: it may be long, and hold NUL. */
  readonly long?: boolean
  readonly properties?: Readonly<Record<string, ParamSchema>>
  readonly required?: readonly string[]
  readonly default?: unknown
  readonly atLeastOne?: readonly string[]
  readonly exactlyOne?: readonly string[]
  readonly atMostOne?: readonly string[]
  /** Fields that are required by the value of another one, `by`. */
  readonly needs?: { readonly by: string; readonly when: Readonly<Record<string, readonly string[]>> }
}

/** Reads one value: returns it in the declared type, undefined where there is none, or reports faults. */
type Read = (value: Value | undefined, name: string, faults: string[]) => unknown

const INVALID = 'is invalid'
const NOT_LISTED = 'does not have a valid value'

/**
 * Compiles the reader of an operation's parameters. The reader gives exactly what `schema` declares, converted
 * from text where need be, and throws one Problem that names every fault in the order of declaration.
 */
export function compileReader(schema: TSchema | undefined): (raw: Tree) => Record<string, unknown> {
  const read = object(schema ?? {}, (_, name) => name)
  return (raw) => {
    const faults: string[] = []
    const values = read(raw, '', faults) as Record<string, unknown>
    if (faults.length > 0) throw badParams(faults)
    return values
  }
}

/** Compiles the reader of one path parameter. */
export function compileOne(schema: TSchema, name: string): (value: string) => unknown {
  const read = reader(schema)
  return (value) => {
    const faults: string[] = []
    const result = read(value, name, faults)
    if (faults.length > 0 || result === undefined) throw badParams([faults[0] ?? `${name} ${INVALID}`])
    return result
  }
}

/** The names of the parameters that a request must hold: a default makes one optional. */
export const requiredOf = (schema: TObject | undefined): string[] =>
  (schema?.required ?? []).filter((name) => !('default' in (schema?.properties[name] ?? {})))

function object(schema: ParamSchema, nameOf: (parent: string, name: string) => string): Read {
  const required = new Set(schema.required)
  const fields = Object.entries(schema.properties ?? {}).map(([name, field]) => ({
    name,
    read: reader(field),
    required: required.has(name),
    fallback: field.default,
  }))
  return (value, parent, faults) => {
    if (!isTree(value)) return void faults.push(`${parent} ${INVALID}`)
    const values: Record<string, unknown> = {}
    for (const field of fields) {
      const name = nameOf(parent, field.name)
      const given = Object.hasOwn(value, field.name) ? value[field.name] : undefined
      const before = faults.length
      const result = given === undefined ? undefined : field.read(given, name, faults)
      if (result !== undefined) values[field.name] = result
      else if (faults.length > before) continue
      else if (field.fallback !== undefined) values[field.name] = field.fallback
      else if (field.required)
        faults.push(`${name} ${given === undefined || given === null ? 'is missing' : INVALID}`)
    }
    together(schema, value, faults)
    for (const name of needed(schema, values))
      if (values[name] === undefined && !faults.some((fault) => fault.startsWith(`${nameOf(parent, name)} `)))
        faults.push(`${nameOf(parent, name)} is missing`)
    return values
  }
}

const needed = ({ needs }: ParamSchema, values: Record<string, unknown>): readonly string[] =>
  (needs && needs.when[String(values[needs.by])]) ?? []

function together({ atLeastOne, exactlyOne, atMostOne }: ParamSchema, value: Tree, faults: string[]): void {
  const given = (names: readonly string[]): number =>
    names.filter((name) => Object.hasOwn(value, name)).length
  if (atLeastOne && given(atLeastOne) === 0)
    faults.push(`${atLeastOne.join(', ')} are missing, at least one parameter must be provided`)
  if (exactlyOne && given(exactlyOne) === 0)
    faults.push(`${exactlyOne.join(', ')} are missing, exactly one parameter must be provided`)
  for (const one of [exactlyOne, atMostOne])
    if (one && given(one) > 1) faults.push(`${one.join(', ')} are mutually exclusive`)
}

function reader(schema: ParamSchema): Read {
  const types = [schema.type ?? []].flat()
  const type = types.find((each) => each !== 'null')
  const read = byType(schema, type)
  const keepsNull = types.includes('null')
  // A form has no null: where a value can be taken away, and no text is empty, an empty text takes it away.
  const emptied = keepsNull && (type !== 'string' || (schema.format !== undefined && !schema.enum))
  const list = type === 'array'
  return (given, name, faults) => {
    const value = given instanceof Repeated && !list ? given.at(-1) : given
    if (value === null || (emptied && value === '')) return keepsNull ? null : undefined
    return read(value, name, faults)
  }
}

function byType(schema: ParamSchema, type: string | undefined): Read {
  switch (type) {
    case 'string':
      return schema.enum ? choice(schema.enum) : string(schema)
    case 'integer':
    case 'number':
      return number(schema, type === 'integer')
    case 'boolean':
      return boolean(schema)
    case 'array':
      return array(schema)
    case 'object':
      if (schema.properties === undefined) return schema.json ? jsonTree : tree
      return object(schema, (parent, name) => `${parent}[${name}]`)
    default:
      throw new Error(`no parameter can be of type ${String(schema.type)}`)
  }
}

const tree: Read = (value, name, faults) => (isTree(value) ? value : void faults.push(`${name} ${INVALID}`))
const jsonTree: Read = (value, name, faults) =>
  tree(typeof value === 'string' ? jsonIn(value) : value, name, faults)

function choice(values: readonly unknown[]): Read {
  return (value, name, faults) => {
    if (values.includes(value)) return value
    if (typeof value === 'number' && values.includes(String(value))) return String(value)
    return void faults.push(`${name} ${NOT_LISTED}`)
  }
}

function string(schema: ParamSchema): Read {
  const { minLength = 0, maxLength = Infinity, maxBytes = Infinity } = schema
  const pattern = schema.pattern === undefined ? undefined : new RegExp(schema.pattern, 'u')
  const wellFormed = schema.format === undefined ? () => true : formats[schema.format]
  if (wellFormed === undefined) throw new Error(`no parameter has the format ${schema.format}`)
  const long = schema.long === true
  return (value, name, faults) => {
    if (long && value instanceof LongText) return value
    // `1e999` is a number of JSON that is none here.
    const isEndless = value === Infinity || value === -Infinity
    if (value === undefined || typeof value === 'object' || isEndless)
      return void faults.push(`${name} ${INVALID}`)
    const text = String(value)
    // PostgreSQL stores neither NUL nor half a surrogate pair, and nobody means them.
    if ((text.includes('\0') && !long) || !text.isWellFormed()) return void faults.push(`${name} ${INVALID}`)
    if (schema.format !== undefined && text === '') return undefined
    if (minLength > 0 && text.trim() === '') return void faults.push(`${name} is empty`)
    if (text.length > maxLength || (text.length * 3 > maxBytes && Buffer.byteLength(text) > maxBytes))
      return void faults.push(
        `${name} is expected to have length less than or equal to ${Math.min(maxLength, maxBytes)}`,
      )
    if (!wellFormed(text) || pattern?.test(text) === false) return void faults.push(`${name} ${INVALID}`)
    return schema.format === undefined ? text : schema.format === 'date' ? dayOf(text) : zoned(text)
  }
}

function number(schema: ParamSchema, whole: boolean): Read {
  const { minimum = -Infinity, maximum = Infinity } = schema
  const form = whole ? /^\s*[+-]?\d+\s*$/ : /^\s*[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?\s*$/
  return (value, name, faults) => {
    if (typeof value === 'string' && value.trim() === '') return undefined
    const result = typeof value === 'string' && form.test(value) ? Number(value) : value
    if (typeof result !== 'number' || !(whole ? Number.isSafeInteger(result) : Number.isFinite(result)))
      return void faults.push(`${name} ${INVALID}`)
    if (schema.not?.const === result) return void faults.push(`${name} has a value not allowed`)
    if (result < minimum || result > maximum || schema.enum?.includes(result) === false)
      return void faults.push(`${name} ${NOT_LISTED}`)
    return result
  }
}

const booleans = new Map<string, boolean>([
  ...['true', 't', '1', 'on'].map((word) => [word, true] as const),
  ...['false', 'f', '0', 'off'].map((word) => [word, false] as const),
])

function boolean({ minLength = 0 }: ParamSchema): Read {
  return (value, name, faults) => {
    if (typeof value === 'boolean') return value
    if (value === '') return minLength > 0 ? void faults.push(`${name} is empty`) : undefined
    const scalar = typeof value === 'string' || typeof value === 'number'
    return (
      (scalar ? booleans.get(String(value).toLowerCase()) : undefined) ??
      void faults.push(`${name} ${INVALID}`)
    )
  }
}

/** As many elements as an array of a JSON body may have. */
const MOST_PARTS = 100_000

function array({ items = {}, commas = false, json = false, minItems = 0 }: ParamSchema): Read {
  const read = reader(items)
  const nested = [items.type].flat().includes('object')
  const listOf = (value: Value | undefined): Value | undefined => {
    // Where `1,2` is a list, 1 is a list of one.
    if (typeof value === 'number' && commas) return [value]
    if (typeof value !== 'string') return value
    if (json) return jsonIn(value)
    if (!commas) return value
    const parts = value.split(',', MOST_PARTS + 1)
    return parts.length > MOST_PARTS ? value : parts.filter((one) => one.trim() !== '')
  }
  return (value, name, faults) => {
    const list = listOf(value)
    if (!Array.isArray(list)) return void faults.push(`${name} ${INVALID}`)
    if (list.length < minItems) return void faults.push(`${name} is missing`)
    if (nested)
      return list.map((item: Value, i) =>
        item === null ? void faults.push(`${name}[${i}] ${INVALID}`) : read(item, `${name}[${i}]`, faults),
      )
    const before = faults.length
    const result = list.map((item: Value) => read(item, name, faults)).filter((item) => item !== undefined)
    if (faults.length > before + 1) faults.splice(before + 1)
    return result
  }
}
