import type { AlertMapping } from '../db/schema/alerts.ts'
import { isPayload, type Payload } from './values.ts'

// Custom mapping: where the senders of one integration put the attributes of an alert.

type Path = AlertMapping[string]

/** The attributes that a mapping can place. */
const ATTRIBUTES = [
  'title',
  'description',
  'start_time',
  'end_time',
  'service',
  'monitoring_tool',
  'hosts',
  'severity',
  'fingerprint',
  'svc_environment_name',
]

/** A mapping file that cannot be used; the message says why. */
export class BadMapping extends Error {}

/** The value that a path leads to; undefined where it leads nowhere. */
export function valueAt(payload: unknown, path: Path): unknown {
  let value = payload
  for (const key of path) {
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, key)) return undefined
    value = (value as Record<string | number, unknown>)[key]
  }
  return value ?? undefined
}

/** A copy of the payload without what the path leads to. */
export function without(payload: Payload, path: Path): Payload {
  const [key, ...rest] = path
  if (key === undefined || !Object.hasOwn(payload, key)) return payload
  const { [key]: inner, ...others } = payload
  if (rest.length === 0) return others
  return isPayload(inner) ? { ...others, [key]: without(inner, rest) } : payload
}

const STEP = /\.([\p{L}_][\p{L}\p{N}_-]*)|\[(\d{1,6})\]|\['((?:[^'\\]|\\.)+)'\]|\["((?:[^"\\]|\\.)+)"\]/uy

/** Reads a JSON path such as `$.alert.hosts[0]` or `$['a b'].c`. Throws BadMapping. */
function readPath(attribute: string, text: unknown): Path {
  const bad = (): BadMapping =>
    new BadMapping(`${attribute}: "${String(text)}" is not a JSON path such as $.alert.title`)
  if (typeof text !== 'string' || !text.startsWith('$') || text.length > 1_000) throw bad()
  const path: (string | number)[] = []
  STEP.lastIndex = 1
  while (STEP.lastIndex < text.length) {
    const [, name, index, single, double] = STEP.exec(text) ?? []
    const quoted = (single ?? double)?.replaceAll(/\\(.)/g, '$1')
    const key = name ?? quoted ?? (index === undefined ? undefined : Number(index))
    if (key === undefined) throw bad()
    path.push(key)
  }
  if (path.length === 0) throw bad()
  return path
}

/**
 * Reads a mapping file: `{"sample": {…}, "paths": {"title": "$.alert.name"}}`. Each path must lead to a value in the
 * sample payload. Throws BadMapping.
 */
export function readMapping(file: unknown): AlertMapping {
  if (!isPayload(file) || !isPayload(file['sample']) || !isPayload(file['paths']))
    throw new BadMapping('it takes {"sample": {…}, "paths": {"title": "$.alert.title"}}')
  const { sample, paths } = file
  return Object.fromEntries(
    Object.entries(paths).map(([attribute, text]) => {
      if (!ATTRIBUTES.includes(attribute))
        throw new BadMapping(`there is no attribute ${attribute}: it takes ${ATTRIBUTES.join(', ')}`)
      const path = readPath(attribute, text)
      if (valueAt(sample, path) === undefined)
        throw new BadMapping(`${attribute}: ${String(text)} leads nowhere in the sample`)
      return [attribute, path]
    }),
  )
}
