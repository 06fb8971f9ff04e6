import type { AlertSeverity } from '../db/schema/alerts.ts'

/** JSON as a sender wrote it. */
export type Payload = Readonly<Record<string, unknown>>

/** The alert in a payload, or in one item of it. */
export interface Incoming {
  readonly title: string
  readonly description: string | null
  readonly service: string | null
  readonly monitoring_tool: string | null
  readonly hosts: readonly string[]
  readonly severity: AlertSeverity
  readonly environment: string | null
  /** SHA-1; null where each occurrence is an alert of its own. */
  readonly fingerprint: Buffer | null
  readonly started_at: Date
  readonly ended_at: Date | null
  /** Whether it ends the alert with that fingerprint instead of raising one. */
  readonly resolves: boolean
  readonly payload: string
}

/** The title of an alert whose payload has none. */
export const DEFAULT_TITLE = 'New: Alert'

/** Title and other limits count characters, not UTF-16 units, as the column checks do. */
const TITLE_LENGTH = 200
export const DESCRIPTION_LENGTH = 1_000
export const WORD_LENGTH = 100
const HOSTS_LENGTH = 255

export const isPayload = (value: unknown): value is Payload =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** A scalar as text that PostgreSQL can store; undefined for anything else and for blank text. */
export function textOf(value: unknown): string | undefined {
  if (typeof value !== 'string' && typeof value !== 'number' && typeof value !== 'boolean') return undefined
  const text = String(value).replaceAll('\0', '').toWellFormed()
  return text.trim() === '' ? undefined : text
}

/** Cuts a text to `length` characters; the last three are then dots. */
export function truncate(text: string, length: number): string {
  if (text.length <= length) return text
  const characters = Array.from(text)
  return characters.length <= length ? text : `${characters.slice(0, length - 3).join('')}...`
}

export const titleOf = (value: unknown): string | undefined => {
  const text = textOf(value)
  return text && truncate(text, TITLE_LENGTH)
}
export const shortTextOf = (value: unknown, length: number): string | null => {
  const text = textOf(value)
  return text === undefined ? null : truncate(text, length)
}

/** The texts of a scalar or of arrays inside each other; depth is bounded where the payload is read. */
export const flatten = (value: unknown): string[] =>
  [value].flat(Infinity).flatMap((one) => textOf(one) ?? [])

/** Hosts as long as they fit together: the one that does not is cut, those behind it are dropped. */
export function hostsOf(value: unknown): string[] {
  const hosts: string[] = []
  let room = HOSTS_LENGTH
  for (const host of flatten(value)) {
    const fitting = Array.from(host).slice(0, room)
    if (fitting.length > 0) hosts.push(fitting.join(''))
    room -= fitting.length
    if (room === 0) break
  }
  return hosts
}

const ISO = /^\d{4}-\d{2}-\d{2}([T ]\d{2}:\d{2}(:\d{2}(\.\d+)?)?)?/
const ZONE = /(Z|UTC|[+-]\d{2}:?\d{2})$/i

/** A moment as ISO 8601 text, UTC where it names no zone, or as epoch milliseconds; undefined for anything else. */
export function momentOf(value: unknown): Date | undefined {
  const moment =
    typeof value === 'number' ? new Date(value) : typeof value === 'string' ? parse(value) : undefined
  const year = moment?.getUTCFullYear() ?? NaN
  return year >= 1 && year <= 9999 ? moment : undefined
}

function parse(text: string): Date | undefined {
  const trimmed = text.trim()
  if (!ISO.test(trimmed) || trimmed.length > 64) return undefined
  const zoned = ZONE.test(trimmed) || trimmed.length === 10 ? trimmed : `${trimmed}Z`
  return new Date(zoned.replace(/ ?UTC$/i, 'Z').replace(' ', 'T'))
}
