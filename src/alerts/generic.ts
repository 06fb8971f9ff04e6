import { createHash } from 'node:crypto'
import type { AlertMapping, AlertSeverity } from '../db/schema/alerts.ts'
import { valueAt, without } from './mapping.ts'
import {
  DEFAULT_TITLE,
  DESCRIPTION_LENGTH,
  WORD_LENGTH,
  flatten,
  hostsOf,
  momentOf,
  shortTextOf,
  textOf,
  titleOf,
  type Incoming,
  type Payload,
} from './values.ts'

const SEVERITIES: ReadonlySet<string> = new Set(['critical', 'high', 'medium', 'low', 'info', 'unknown'])

export interface GenericOptions {
  /** Where the integration's senders put what; null for the default keys. */
  readonly mapping: AlertMapping | null
  /** Whether alerts without a fingerprint get one from the rest of their payload. */
  readonly fingerprinting: boolean
  readonly now: Date
}

/** Reads a generic payload. `text` is the payload as it was sent. */
export function readGeneric(payload: Payload, text: string, options: GenericOptions): Incoming {
  const { now } = options
  const read = reader(payload, options.mapping)
  const end = momentOf(read('end_time'))
  return {
    title: titleOf(read('title')) ?? DEFAULT_TITLE,
    description: shortTextOf(read('description'), DESCRIPTION_LENGTH),
    service: shortTextOf(read('service'), WORD_LENGTH),
    monitoring_tool: shortTextOf(read('monitoring_tool'), WORD_LENGTH),
    hosts: hostsOf(read('hosts')),
    severity: severityOf(read('severity')),
    environment: textOf(read('svc_environment_name') ?? read('gitlab_environment_name')) ?? null,
    fingerprint: fingerprintOf(payload, read('fingerprint'), options),
    started_at: momentOf(read('start_time')) ?? now,
    ended_at: end ?? null,
    resolves: end !== undefined,
    payload: text,
  }
}

/** Reads an attribute at its mapped path first, at its default key second. */
const reader =
  (payload: Payload, mapping: AlertMapping | null) =>
  (attribute: string): unknown => {
    const path = mapping?.[attribute]
    return (path && valueAt(payload, path)) ?? payload[attribute]
  }

const severityOf = (value: unknown): AlertSeverity => {
  const word = textOf(value)?.trim().toLowerCase() ?? ''
  return SEVERITIES.has(word) ? (word as AlertSeverity) : 'critical'
}

/** The attributes in which two occurrences of one alert may differ. */
const CHANGING = ['start_time', 'end_time', 'hosts']

function fingerprintOf(
  payload: Payload,
  given: unknown,
  { mapping, fingerprinting }: GenericOptions,
): Buffer | null {
  const explicit = flatten(given).join('')
  if (explicit !== '') return sha1(explicit)
  if (!fingerprinting) return null
  const paths = CHANGING.flatMap((name) => [[name], ...(mapping?.[name] ? [mapping[name]] : [])])
  const rest = paths.reduce<Payload>(without, payload)
  return hasValue(rest) ? sha1(canonical(rest)) : null
}

const sha1 = (text: string): Buffer => createHash('sha1').update(text).digest()

const hasValue = (payload: Payload): boolean =>
  Object.values(payload).some((value) => value !== null && value !== '' && canonical(value) !== '{}')

/** JSON in which the order of keys makes no difference. */
function canonical(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonical).join()}]`
  if (typeof value !== 'object' || value === null) return JSON.stringify(value) ?? 'null'
  const entries = Object.entries(value).toSorted(([a], [b]) => (a < b ? -1 : 1))
  return `{${entries.map(([key, one]) => `${JSON.stringify(key)}:${canonical(one)}`).join()}}`
}
