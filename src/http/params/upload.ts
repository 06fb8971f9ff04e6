import { randomBytes } from 'node:crypto'
import { open, rm } from 'node:fs/promises'
import type { IncomingMessage } from 'node:http'
import { join } from 'node:path'
import type { Readable } from 'node:stream'
import { buffer } from 'node:stream/consumers'
import { Busboy } from '@fastify/busboy'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { readBody } from './body.ts'
import { nest, type Tree } from './forms.ts'
import { LongTextExtractor } from './long_text_extractor.ts'
import { badBody, bodyTooComplex, requestTimeout, unsupportedEncoding, type Problem } from '../problems.ts'

/** One file of a form. */
export interface FormFile {
  /** The name of the field. */
  readonly name: string
  readonly file_name: string
  readonly bytes: AsyncIterable<Uint8Array>
}

/** The body of an operation that `receives` it. It is read once, in one of three ways; none holds a file in memory. */
export interface Upload {
  /** Bytes of the body, as far as the request tells. */
  readonly declared: number | undefined
  /** The media type in lower case, without its parameters. */
  readonly type: string
  /** The body as it comes. */
  bytes(): AsyncIterable<Uint8Array>
  /** A `multipart/form-data` body: `take` is called for one file after the other. Answers the other fields. */
  form(take: (file: FormFile) => Promise<void>): Promise<Tree>
  /** A JSON body. Its long texts under the name `apart` lie on disk, as `LongText`. */
  json(limits: JsonBody): Promise<Tree>
}

export interface JsonBody {
  readonly apart: string
  /** Bytes of the whole body. */
  readonly limit: number
  /** The refusal of a longer one. */
  readonly tooLarge: () => Problem
}

type Parser = InstanceType<typeof Busboy>

/** Milliseconds for which a sender may send nothing. */
const SILENCE = 60_000
const MAX_FIELDS = 1_000
const MAX_FIELD_BYTES = 1024 * 1024

/** Runs `add` for routes whose bodies nobody reads before their operation does. */
export function withoutParsing(app: FastifyInstance, add: (scope: FastifyInstance) => void): void {
  void app.register(async (scope) => {
    scope.removeAllContentTypeParsers()
    scope.addContentTypeParser('*', (_request, _payload, done) => done(null))
    add(scope)
  })
}

export function openUpload({ raw, headers }: FastifyRequest, reply: FastifyReply, dataDir: string): Upload {
  // A refusal before the end of the body reaches its sender only if the rest is read too, for a while.
  reply.raw.once('finish', () => {
    if (raw.readableEnded || raw.destroyed) return
    raw.resume()
    setTimeout(() => raw.destroy(), SILENCE).unref()
  })
  const length = Number(headers['content-length'] ?? Number.NaN)
  const contentType = headers['content-type'] ?? ''
  const body = (): IncomingMessage => {
    if ((headers['content-encoding'] ?? 'identity') !== 'identity') throw unsupportedEncoding()
    return raw
  }
  return {
    declared: Number.isNaN(length) ? undefined : length,
    type: contentType.split(';', 1)[0]?.trim().toLowerCase() ?? '',
    bytes: () => chunksOf(body()),
    form: async (take) => readForm(body(), contentType, take),
    json: async (limits) => {
      if (length > limits.limit) throw limits.tooLarge()
      return readJson(body(), reply, { ...limits, dataDir })
    },
  }
}

/** The chunks of a request; it stays open when they are not read to the end, so that a refusal can be answered. */
async function* chunksOf(raw: IncomingMessage): AsyncGenerator<Uint8Array> {
  let silent = false
  const clock = setTimeout(() => {
    silent = true
    raw.destroy()
  }, SILENCE)
  try {
    for await (const chunk of raw.iterator({ destroyOnReturn: false })) {
      clock.refresh()
      yield chunk as Uint8Array
    }
  } catch (error) {
    throw silent ? requestTimeout() : error
  } finally {
    clearTimeout(clock)
  }
}

async function readForm(raw: IncomingMessage, contentType: string, take: (file: FormFile) => Promise<void>) {
  const parser = openParser(contentType)
  const pairs: [string, string][] = []
  const taken: Promise<void>[] = []
  const streams: Readable[] = []
  const ended = new Promise<void>((resolve, reject) => {
    parser.on('field', (name, value, _nameTruncated, truncated) => {
      if (truncated) reject(bodyTooComplex(`${MAX_FIELD_BYTES} bytes in one parameter`))
      pairs.push([name, value])
    })
    parser.on('file', (name, stream: Readable, file_name) => {
      // The parser waits while a file is not read; what a refusal leaves unread must not hold it up.
      const one = take({ name, file_name, bytes: stream }).finally(() => stream.resume())
      one.catch(reject)
      taken.push(one)
      // A refusal destroys the stream, which may have no reader then.
      stream.on('error', () => {})
      streams.push(stream)
    })
    parser.on('fieldsLimit', () => reject(bodyTooComplex(`${MAX_FIELDS} parameters`)))
    parser.on('error', () => reject(badBody()))
    parser.on('finish', resolve)
  })
  try {
    await Promise.race([ended, feed(raw, parser).then(() => ended)])
    await Promise.all(taken)
  } catch (error) {
    for (const stream of streams) stream.destroy(error as Error)
    await Promise.allSettled(taken)
    throw error
  }
  return nest(pairs)
}

function openParser(contentType: string): Parser {
  try {
    const limits = { fields: MAX_FIELDS, fieldSize: MAX_FIELD_BYTES, files: 10 }
    return new Busboy({ headers: { 'content-type': contentType }, limits })
  } catch {
    throw badBody()
  }
}

/** Writes the request into a parser, no faster than it takes it. */
async function feed(raw: IncomingMessage, parser: Parser): Promise<void> {
  for await (const chunk of chunksOf(raw))
    if (!parser.write(chunk)) await new Promise((resolve) => parser.once('drain', resolve))
  parser.end()
}

async function readJson(
  raw: IncomingMessage,
  reply: FastifyReply,
  { apart, limit, tooLarge, dataDir }: JsonBody & { readonly dataDir: string },
): Promise<Tree> {
  const path = join(dataDir, `.body-${randomBytes(8).toString('hex')}`)
  const file = await open(path, 'wx+', 0o600)
  await rm(path)
  const sieve = new LongTextExtractor(file, { apart })
  reply.raw.once('close', () => void sieve.settled().then(() => file.close()))
  const kept = buffer(sieve)
  kept.catch(() => {})
  for await (const chunk of chunksOf(raw)) {
    const isFull = !sieve.write(chunk)
    if (sieve.receivedEncodedLength > limit) throw tooLarge()
    if (isFull) await Promise.race([kept, new Promise((resolve) => sieve.once('drain', resolve))])
  }
  sieve.end()
  return readBody(await kept, 'application/json', sieve.texts)
}
