import { promisify } from 'node:util'
import { brotliDecompress, gunzip, inflate } from 'node:zlib'
import { BadEnvelope, readEnvelope } from '../../errors/envelope.ts'
import { readEvent, type ErrorEvent } from '../../errors/event.ts'
import { jsonOf } from '../../http/params/body.ts'
import { Problem, refused } from '../../http/problems.ts'

export const unreadable = (): Problem => refused('Failed to parse sentry request')
export const unsupported = (): Problem => refused('Unsupported sentry payload')

/** Bytes of a body once it is unpacked: more is as malformed as no JSON at all. */
export const BODY_LIMIT = 1024 * 1024
/** Levels of an event. */
const DEPTH = 100

const UNPACK = { gzip: promisify(gunzip), deflate: promisify(inflate), br: promisify(brotliDecompress) }
const options = { maxOutputLength: BODY_LIMIT }
const isEncoding = (name: string): name is keyof typeof UNPACK => Object.hasOwn(UNPACK, name)

async function unpack(bytes: Buffer, encoding = 'identity'): Promise<Buffer> {
  const name = encoding.trim().toLowerCase()
  if (name === 'identity' || name === '') return bytes
  if (!isEncoding(name)) throw unreadable()
  return UNPACK[name](bytes, options).catch(() => {
    throw unreadable()
  })
}

const isJson = (bytes: Buffer): boolean => /^\s*\{/.test(bytes.toString('utf8', 0, 64))

/** The oldest SDKs send base64 of deflated JSON, without saying so. */
async function plain(bytes: Buffer): Promise<Buffer> {
  return isJson(bytes) ? bytes : unpack(Buffer.from(bytes.toString('latin1'), 'base64'), 'deflate')
}

function eventIn(bytes: Buffer, now: Date): ErrorEvent {
  // Without a byte order mark, which PostgreSQL refuses: JavaScript counts it as white space.
  const event = readEvent(parse(bytes), bytes.toString().trim(), now)
  if (event === undefined) throw unsupported()
  return event
}

function parse(bytes: Buffer): unknown {
  try {
    return jsonOf(bytes, DEPTH)
  } catch (error) {
    throw error instanceof Problem ? unreadable() : error
  }
}

/** The event in a body of the `store` endpoint. */
export const storedEvent = async (
  bytes: Buffer,
  encoding: string | undefined,
  now: Date,
): Promise<ErrorEvent> => eventIn(await plain(await unpack(bytes, encoding)), now)

/** The events in an envelope; sessions, transactions and other items are taken and not kept. */
export async function envelopeEvents(
  bytes: Buffer,
  encoding: string | undefined,
  now: Date,
): Promise<ErrorEvent[]> {
  const unpacked = await unpack(bytes, encoding)
  try {
    return readEnvelope(unpacked)
      .filter(({ type }) => type === 'event')
      .map(({ payload }) => eventIn(payload, now))
  } catch (error) {
    throw error instanceof BadEnvelope ? unreadable() : error
  }
}
