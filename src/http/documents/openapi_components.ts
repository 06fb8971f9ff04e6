import { createHash } from 'node:crypto'

type Json = Record<string, unknown>

/** The parts of a document that become components. */
type Kind = 'schemas' | 'responses'
interface Place {
  readonly kind: Kind
  readonly name: string
}

/** Characters of JSON: a shorter schema stays inline. */
const MIN_LENGTH = 160

/**
 * Moves schemas and responses to the components of the document. Each is named by its content: the shortest name that
 * its places suggest, and a digest of its JSON, so that a new operation renames nothing that was there before.
 */
export function nameComponents(document: Json): Json {
  const { components: given, ...rest } = document as { components: Record<string, Json> }
  const places = new Map<string, Place>()
  walk(rest, undefined, '', (value, place, descend) => {
    const text = JSON.stringify(value)
    const known = places.get(text)
    if (known === undefined || isBefore(place.name, known.name)) places.set(text, place)
    return known === undefined ? descend() : value
  })
  const components: Record<Kind, Json> = { schemas: {}, responses: {} }
  const short = walk(rest, undefined, '', (value, place, descend) => {
    const text = JSON.stringify(value)
    const { kind, name } = places.get(text) ?? place
    const full = `${name}_${createHash('sha1').update(text).digest('hex').slice(0, 6)}`
    components[kind][full] ??= descend()
    return { $ref: `#/components/${kind}/${full}` }
  }) as Json
  return {
    ...short,
    components: {
      ...given,
      schemas: { ...given['schemas'], ...sorted(components.schemas) },
      responses: sorted(components.responses),
    },
  }
}

const isBefore = (a: string, b: string): boolean => a.length < b.length || (a.length === b.length && a < b)
const sorted = (record: Json): Json =>
  Object.fromEntries(Object.entries(record).toSorted(([a], [b]) => (a < b ? -1 : 1)))

type Visit = (value: Json, place: Place, descend: () => Json) => unknown

/** Copies a value; `visit` decides about whatever may be a component. `name` is what would be said of it here. */
function walk(value: unknown, place: Place | undefined, name: string, visit: Visit): unknown {
  if (Array.isArray(value)) return value.map((one) => walk(one, placeOf(one, '', name), name, visit))
  if (typeof value !== 'object' || value === null) return value
  const descend = (): Json =>
    Object.fromEntries(
      Object.entries(value).map(([key, one]) => {
        const inside = nameOf(key, one, name)
        return [key, walk(one, placeOf(one, key, inside), inside, visit)]
      }),
    )
  return place === undefined ? descend() : visit(value as Json, place, descend)
}

const STATUS = /^[1-5]\d\d$/

function placeOf(value: unknown, key: string, name: string): Place | undefined {
  if (typeof value !== 'object' || value === null || Array.isArray(value) || '$ref' in value) return undefined
  if (STATUS.test(key)) return 'description' in value ? { kind: 'responses', name } : undefined
  const isObject = 'properties' in value || 'items' in value
  if (!isObject || key === 'properties' || JSON.stringify(value).length < MIN_LENGTH) return undefined
  return { kind: 'schemas', name: name.replace(/^\d+/, '') }
}

/** The name that a part would go by, given its key and the name of the whole. */
function nameOf(key: string, value: unknown, name: string): string {
  if (STATUS.test(key)) return responseName(key, value, name)
  if (typeof value === 'object' && value !== null && 'operationId' in value)
    return nounOf(String(value.operationId))
  if (key === 'requestBody') return `${name}Parameters`
  if (key === 'items') return singular(name)
  return KEYWORDS.has(key) ? name : pascal(key)
}
const KEYWORDS = new Set(
  'responses content schema properties anyOf oneOf parameters headers application/json'
    .split(' ')
    .concat('application/x-www-form-urlencoded', 'multipart/form-data', 'additionalProperties'),
)

/** A refusal is named by its status and its first words; a success by what the operation is about. */
function responseName(status: string, value: unknown, name: string): string {
  const { description = '' } = value as { description?: string }
  const [, words = ''] = /^\{"\w+":"(?:\d{3} )?([^"]*)/.exec(description) ?? []
  return status.startsWith('2') || words === ''
    ? `${status}${name}`
    : `${status}${pascal(words).slice(0, 40)}`
}

/** `listGroupLabels` is about `GroupLabels`. */
const nounOf = (operationId: string): string => {
  const noun = operationId.replace(/^[a-z]+/, '')
  return operationId.startsWith('list') ? noun : singular(noun)
}
const singular = (noun: string): string =>
  noun
    .replace(/ies$/, 'y')
    .replace(/(ch|sh|ss|x|as|us)es$/, '$1')
    .replace(/(?<![asu])s$/, '')
const pascal = (words: string): string =>
  words
    .split(/[^A-Za-z0-9]+/)
    .map((word) => word.slice(0, 1).toUpperCase() + word.slice(1))
    .join('')
