type Json = Record<string, unknown>

/** What of a document may stand among the components: by what it is, and under which name. */
type Kind = 'schemas' | 'responses' | 'headers'
interface Place {
  readonly kind: Kind
  readonly name: string
}

/** Shorter than this, a schema is easier read where it stands. */
const LEAST = 160

/**
 * The same document with everything that it says more than once said once, among its components. Names come from where
 * a thing stands first: what an operation is about, a property, a refusal's own words.
 */
export function sayOnce(document: Json): Json {
  const counts = new Map<string, number>()
  walk(document, undefined, '', (value, _place, descend) => {
    const text = JSON.stringify(value)
    counts.set(text, (counts.get(text) ?? 0) + 1)
    // What lies inside something that was seen before is said once with it.
    return counts.get(text) === 1 ? descend() : value
  })
  const components: Record<Kind, Json> = { schemas: {}, responses: {}, headers: {} }
  const refs = new Map<string, Json>()
  const { components: given, ...rest } = document as { components: Record<string, Json> }
  Object.assign(components.schemas, given['schemas'])
  const short = walk(rest, undefined, '', (value, { kind, name }, descend) => {
    const text = JSON.stringify(value)
    if ((counts.get(text) ?? 0) < 2) return descend()
    const known = refs.get(text)
    if (known !== undefined) return known
    const free = freeName(components[kind], name)
    const ref = { $ref: `#/components/${kind}/${free}` }
    refs.set(text, ref)
    components[kind][free] = value
    components[kind][free] = descend()
    return ref
  }) as Json
  return { ...short, components: { ...given, ...components } }
}

function freeName(taken: Json, wanted: string): string {
  for (let number = 1; ; number++) {
    const name = number === 1 ? wanted : `${wanted}${number}`
    if (!(name in taken)) return name
  }
}

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
  if (!isObject || key === 'properties' || JSON.stringify(value).length < LEAST) return undefined
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
