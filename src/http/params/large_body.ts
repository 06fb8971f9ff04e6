import { randomBytes } from 'node:crypto'
import { open, rm, type FileHandle } from 'node:fs/promises'
import { join } from 'node:path'
import type { Readable } from 'node:stream'
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { LongTexts } from './long_text.ts'
import { LongTextExtractor } from './long_text_extractor.ts'
import { Problem, bodyTooLarge, tooManyLargeBodies, unsupportedEncoding } from '../problems.ts'

declare module 'fastify' {
  interface FastifyRequest {
    /** The texts that were taken out of the body, and lie on disk. */
    longTexts: LongTexts | undefined
  }
}

const MB = 1024 * 1024
/** Bytes of a body up to which it is read like any other. */
const SMALL = MB
/** Bytes from which a body takes one of the slots. */
const LARGE = 20 * MB
const LARGE_AT_ONCE = 3

/** The large bodies under way, counted over all routes of a server. */
export interface LargeBodySlots {
  /** Throws 429 while every slot is taken. */
  check(): void
  /** Takes a slot until the response closes. Throws 429 while every slot is taken. */
  take(reply: FastifyReply): void
}

export function createLargeBodySlots(): LargeBodySlots {
  let taken = 0
  const check = (): void => {
    if (taken >= LARGE_AT_ONCE) throw tooManyLargeBodies()
  }
  return {
    check,
    take: (reply) => {
      check()
      taken += 1
      reply.raw.once('close', () => (taken -= 1))
    },
  }
}

/** Route options for bodies of up to `limit` bytes; `knock` throws for callers who may not send one. */
export function largeBody(
  limit: number,
  { dataDir, slots }: { readonly dataDir: string; readonly slots: LargeBodySlots },
  knock: (request: FastifyRequest, reply: FastifyReply) => Promise<void>,
): {
  bodyLimit: number
  preParsing: (request: FastifyRequest, reply: FastifyReply, payload: Readable) => Promise<Readable>
} {
  return {
    bodyLimit: limit,
    preParsing: async (request, reply, payload) => {
      const declared = declaredLength(request)
      if (declared <= SMALL) return payload
      try {
        if (Number.isFinite(declared) && declared > limit) throw bodyTooLarge()
        if ((request.headers['content-encoding'] ?? 'identity') !== 'identity') throw unsupportedEncoding()
        await knock(request, reply)
        // A chunked body tells no length: it is refused when it has become large.
        if (Number.isFinite(declared) && declared >= LARGE) slots.check()
        return await takeApart({ request, reply, payload, dataDir, slots })
      } catch (error) {
        // Unread bytes must not be taken for the next request.
        if (error instanceof Problem) reply.header('connection', 'close')
        throw error
      }
    },
  }
}

/** Bytes of a body, `Infinity` when it comes in chunks. A request with neither header has no body. */
function declaredLength({ headers }: FastifyRequest): number {
  if (headers['transfer-encoding'] !== undefined) return Infinity
  return Number(headers['content-length'] ?? 0)
}

interface LargeBody {
  readonly request: FastifyRequest
  readonly reply: FastifyReply
  readonly payload: Readable
  readonly dataDir: string
  readonly slots: LargeBodySlots
}

async function takeApart({ request, reply, payload, dataDir, slots }: LargeBody): Promise<Readable> {
  const isJson = /^application\/json\b/i.test(request.headers['content-type'] ?? '')
  const file = isJson ? await openNameless(dataDir) : undefined
  // An upload that stands still before it is large takes no slot from others.
  const sieve = new LongTextExtractor(file, {
    apart: 'content',
    large: { bytes: LARGE, reached: () => slots.take(reply) },
  })
  if (file !== undefined) {
    request.longTexts = sieve.texts
    reply.raw.once('close', () => void sieve.settled().then(() => file.close()))
  }
  payload.on('error', (error) => sieve.destroy(error))
  return payload.pipe(sieve)
}

/** A file that nothing is left of, however this process ends. */
async function openNameless(directory: string): Promise<FileHandle> {
  const path = join(directory, `.body-${randomBytes(8).toString('hex')}`)
  const file = await open(path, 'wx+', 0o600)
  await rm(path)
  return file
}
