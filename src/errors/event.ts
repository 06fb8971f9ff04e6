import { createHash } from 'node:crypto'

// Events as SDKs write them, and what groups them.

/** The stored part of one event. */
export interface ErrorEvent {
  readonly event_id: string
  readonly fingerprint: Buffer
  /** The type of the exception, or the first words of a message. */
  readonly name: string
  readonly description: string
  /** Where it happened: the transaction, or the innermost frame of the sender's own code. */
  readonly actor: string
  readonly platform: string | null
  readonly level: string
  readonly release: string | null
  readonly environment: string | null
  /** A digest of the affected user. */
  readonly user_digest: Buffer | null
  readonly occurred_at: Date
  readonly payload: string
}

type Json = Readonly<Record<string, unknown>>
const isObject = (value: unknown): value is Json =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
const part = (value: unknown): Json => (isObject(value) ? value : {})
const list = (value: unknown): unknown[] => (Array.isArray(value) ? value : [])

const NAME_LENGTH = 255
const DESCRIPTION_LENGTH = 1_024

/** Text that PostgreSQL can store, cut to `length` UTF-16 units; undefined for blank text and anything else. */
function textOf(value: unknown, length = NAME_LENGTH): string | undefined {
  if (typeof value !== 'string' && typeof value !== 'number') return undefined
  const text = String(value).slice(0, length).replaceAll('\0', '').toWellFormed().trim()
  return text === '' ? undefined : text
}

interface Frame {
  readonly where: string
  readonly inApp: boolean
}
interface Thrown {
  readonly type: string | undefined
  readonly value: string | undefined
  readonly frames: readonly Frame[]
}

/** The outermost exception: SDKs send causes first. */
function thrownIn({ exception }: Json): Thrown | undefined {
  const last = part(list(Array.isArray(exception) ? exception : part(exception)['values']).at(-1))
  const [type, value] = [textOf(last['type']), textOf(last['value'], DESCRIPTION_LENGTH)]
  if (type === undefined && value === undefined) return undefined
  return { type, value, frames: list(part(last['stacktrace'])['frames']).map(frameOf) }
}

const frameOf = (value: unknown): Frame => {
  const frame = part(value)
  const file = textOf(frame['module']) ?? textOf(frame['filename']) ?? '?'
  return { where: `${textOf(frame['function']) ?? '?'} in ${file}`, inApp: frame['in_app'] === true }
}

/** A message with and without its parameters. */
function messageIn(event: Json): { text: string; template: string } | undefined {
  const entry = part(event['logentry'] ?? event['message'])
  const template = textOf(entry['message'] ?? event['message'], DESCRIPTION_LENGTH)
  const text = textOf(entry['formatted'], DESCRIPTION_LENGTH) ?? template
  return text === undefined ? undefined : { text, template: template ?? text }
}

/** Reads an event; undefined for one that tells neither an exception nor a message. */
export function readEvent(event: unknown, payload: string, now: Date): ErrorEvent | undefined {
  if (!isObject(event)) return undefined
  const [thrown, message] = [thrownIn(event), messageIn(event)]
  if (thrown === undefined && message === undefined) return undefined
  const own = thrown?.frames.filter(({ inApp }) => inApp) ?? []
  const frames = own.length > 0 ? own : (thrown?.frames ?? [])
  const name = thrown?.type ?? thrown?.value ?? message?.text ?? ''
  return {
    event_id: eventIdOf(event) ?? createHash('md5').update(payload).digest('hex'),
    fingerprint: fingerprintOf(event, defaultParts(thrown, message?.template, frames)),
    name: name.slice(0, NAME_LENGTH),
    description: thrown?.value ?? message?.text ?? '',
    actor: textOf(event['transaction']) ?? textOf(event['culprit']) ?? frames.at(-1)?.where ?? '',
    platform: textOf(event['platform']) ?? null,
    level: textOf(event['level']) ?? 'error',
    release: textOf(event['release']) ?? null,
    environment: textOf(event['environment']) ?? null,
    user_digest: userOf(part(event['user'])),
    occurred_at: earlier(momentOf(event['timestamp']), now),
    payload,
  }
}

const eventIdOf = (event: Json): string | undefined => {
  const id = textOf(event['event_id'])?.replaceAll('-', '').toLowerCase()
  return id !== undefined && /^[0-9a-f]{32}$/.test(id) ? id : undefined
}

/** The default grouping of events: type and frames, or without frames the text, numbers aside. */
const defaultParts = (
  thrown: Thrown | undefined,
  template: string | undefined,
  frames: readonly Frame[],
): string[] => [
  thrown?.type ?? '',
  ...(frames.length > 0
    ? frames.map(({ where }) => where)
    : [(thrown?.value ?? template ?? '').replaceAll(/0x[0-9a-f]+|\d+/gi, '#')]),
]

const DEFAULT = /^\{\{\s*default\s*\}\}$/

/** The sender's own fingerprint, in which `{{ default }}` stands for ours. */
function fingerprintOf(event: Json, ours: readonly string[]): Buffer {
  const given = list(event['fingerprint']).flatMap((one) => textOf(one, DESCRIPTION_LENGTH) ?? [])
  const parts = given.length === 0 ? ours : given.flatMap((one) => (DEFAULT.test(one) ? ours : [one]))
  return createHash('sha1').update(JSON.stringify(parts)).digest()
}

function userOf(user: Json): Buffer | null {
  const key = ['id', 'username', 'email', 'ip_address'].find((name) => textOf(user[name]) !== undefined)
  if (key === undefined) return null
  return createHash('sha256')
    .update(`${key} ${textOf(user[key])}`)
    .digest()
}

/** A sender whose clock is ahead does not put its error before all others for good. */
const earlier = (moment: Date | undefined, now: Date): Date =>
  moment !== undefined && moment < now ? moment : now

/** Seconds since 1970, or ISO 8601, UTC without a zone. */
function momentOf(value: unknown): Date | undefined {
  const text = typeof value === 'string' && value.length < 64 ? value : undefined
  const zoned = text !== undefined && /T[\d:.]+$/.test(text) ? `${text}Z` : text
  const moment = typeof value === 'number' ? new Date(value * 1000) : new Date(zoned ?? NaN)
  const year = moment.getUTCFullYear()
  return year >= 1970 && year <= 9999 ? moment : undefined
}
