// Reads the schemas of the document and shows them as trees.

import { fold, h, page, rich, spaced } from './parts.js'

const LIMITS =
  'minimum maximum exclusiveMinimum exclusiveMaximum minLength maxLength minItems maxItems pattern const'

export function deref(node = {}) {
  for (let hops = 0; node.$ref && hops < 20; hops++) {
    const { $ref, ...rest } = node
    const keys = $ref.split('/').slice(1)
    const target = keys.reduce((at, key) => at?.[key.replaceAll('~1', '/').replaceAll('~0', '~')], page.spec)
    node = { ...target, ...rest, refName: keys.at(-1) }
  }
  return node
}

export function flatten(given, hops = 0) {
  const { allOf, ...own } = given === true ? {} : deref(given)
  if (!allOf || hops > 5) return own
  return [...allOf.map((part) => flatten(part, hops + 1)), own].reduce((all, part) => {
    const properties = { ...all.properties, ...part.properties }
    return { ...all, ...part, properties, required: [...(all.required ?? []), ...(part.required ?? [])] }
  })
}

const alternatives = (schema) => (schema.oneOf ?? schema.anyOf ?? []).map((each) => flatten(each))
const onlyRequires = (schema) => Object.keys(schema).join() === 'required'
const isNull = (schema) => schema.type === 'null'
const options = (schema) => alternatives(schema).filter((each) => !isNull(each) && !onlyRequires(each))
export const typesOf = (schema) => [schema.type ?? []].flat().filter((type) => type !== 'null')
export const nullable = (schema) => [schema.type].flat().includes('null') || alternatives(schema).some(isNull)

export function typeName(given, hops = 0) {
  const schema = flatten(given)
  if (hops > 4) return 'any'
  if (schema.items) return `array of ${typeName(schema.items, hops + 1)}`
  const choice = options(schema).map((option) => typeName(option, hops + 1))
  const literal = schema.const ?? schema.enum?.[0] ?? schema.properties
  const said = typesOf(schema).join(' or ') || [...new Set(choice)].join(' or ')
  const name = said || (literal === undefined ? 'any' : typeof literal)
  return schema.format ? `${name}, ${schema.format}` : name
}

export function typeView(given) {
  const schema = flatten(given)
  const values = schema.enum ?? flatten(schema.items).enum
  const limits = LIMITS.split(' ').filter((key) => schema[key] !== undefined)
  const words = limits.map((key) => `${key.replace(/[A-Z]/, (c) => ` ${c.toLowerCase()}`)} ${schema[key]}`)
  if (schema.not?.const !== undefined) words.push(`not ${schema.not.const}`)
  if (schema.commas) words.push('comma-separated')
  if (nullable(schema)) words.push('nullable')
  if (schema.default !== undefined) words.push(['default ', h('code', JSON.stringify(schema.default))])
  return [
    h('span.type', typeName(schema)),
    words.map((word) => h('span.fact', word)),
    values && h('span.enum', spaced(values)),
  ]
}

const labelled = (label, schema) => ({ label, schema })

export function members(given, hops = 0) {
  const schema = flatten(given)
  if (hops > 5) return []
  if (schema.items) return members(schema.items, hops + 1)
  const named = Object.entries(schema.properties ?? {}).map(([name, value]) => {
    return { name, schema: value, required: schema.required?.includes(name) }
  })
  const anyKey = [...Object.values(schema.patternProperties ?? {}), schema.additionalProperties]
  const keyed = anyKey.filter((value) => Object(value) === value).map((value) => labelled('any key', value))
  const choices = options(schema)
  if (choices.length === 1) return [...named, ...keyed, ...members(choices[0], hops + 1)]
  const structured = choices.filter((choice) => members(choice, hops + 1).length)
  const kinds = structured.map((choice) => labelled(`as ${choice.refName ?? typeName(choice)}`, choice))
  return [...named, ...keyed, ...kinds]
}

/** Bodies say "one of these attributes" by alternatives that hold nothing but `required`. */
function choiceNote(schema) {
  const groups = alternatives(schema).filter(onlyRequires)
  const sets = groups.map((group) => group.required.join(' with '))
  return sets.length > 0 && h('p.note', schema.oneOf ? 'Exactly one of: ' : 'At least one of: ', spaced(sets))
}

/** What is sent says what is required; in what comes back nearly all is, so there the rest is marked. */
function memberView({ name, label, required, schema: given }, sent, depth) {
  const schema = flatten(given)
  const title = label ? h('em', label) : h('code.name', name)
  const need = sent
    ? required && h('span.required', 'required')
    : name && !required && h('span.fact', 'not always')
  const about = schema.description && h('span.said', rich(schema.description))
  const head = [title, typeView(schema), need, about]
  if (!members(schema).length) return h('li', h('div', head))
  const open = Boolean(label) && depth < 2
  return h(
    'li',
    fold('details', head, () => tree(schema, sent, depth + 1), open),
  )
}

export function tree(given, sent, depth = 0) {
  const rows = members(given).map((member) => memberView(member, sent, depth))
  return [choiceNote(flatten(given)), rows.length > 0 && h('ul.tree', rows)]
}
