import { Readable } from 'node:stream'
import fastJson from 'fast-json-stringify'
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { TArray, TSchema } from 'typebox'
import type { Validator } from 'typebox/compile'
import type { AnswerMemory } from './answer_memory.ts'
import { Download } from './download.ts'
import { KeptAnswer } from './kept_answer.ts'
import { names, tagOf } from './etags.ts'
import type { Context } from '../gate.ts'
import { memoizeByObject } from '../memoize.ts'
import { Answer, pageOptionsOf, successOf, type NamedOperation } from '../operation.ts'
import { STALL_MS, pageText, recordText, type AnswerText } from './large_page.ts'
import { declaredNames, pageHeaders } from './pages.ts'
import { rangeNotSatisfiable } from '../problems.ts'
import { rangeOf } from './ranges.ts'

/** Bytes that a connection takes at once, whether its client reads or not. */
const MAX_UNWATCHED_BYTES = 64 * 1024

type Send = (
  request: FastifyRequest,
  reply: FastifyReply,
  result: unknown,
  around: { readonly ctx: Context; readonly query: string; readonly memory: AnswerMemory },
) => FastifyReply | Promise<FastifyReply>

/** The compiler of schemas, for tests: a server neither checks what it answers nor loads what could. */
export type AnswerCheck = (schema: TSchema) => Pick<Validator, 'Check' | 'Errors'>

/** Makes the function that sends what a handler returned, as its operation declares. */
export function compileAnswer(
  op: NamedOperation,
  checkAnswers: AnswerCheck | undefined,
  stallMs: number = STALL_MS,
): Send {
  const paged = pageOptionsOf(op.returns) !== undefined
  const writeRow = onceCalled(() => writer(op.name, (op.returns as TArray).items, checkAnswers))
  const declared = paged ? declaredNames(op) : new Set<string>()
  const { success, schemaOf, writerOf } = compileBodies(op, checkAnswers)
  return (request, reply, result, { ctx, query, memory }) => {
    memory.settle()
    if (result instanceof Download) return sendBytes(request, reply, result)
    if (result instanceof KeptAnswer) {
      const { status, text } = result
      reply.headers(result.headers)
      return text === undefined
        ? reply.code(status).send()
        : sendText(request, reply, { status, text, memory, stallMs })
    }
    const { status, body, headers } = result instanceof Answer ? result : new Answer(success, result)
    const send = (text: AnswerText): FastifyReply =>
      sendText(request, reply, { status, text, memory, stallMs })
    reply.headers(headers)
    if (status === 204 || schemaOf(status) === null) return reply.code(status).send()
    if (!paged || status !== success) return send(recordText(body, writerOf(status), memory.isLarge))
    const { page, config } = ctx as Context & { page: Parameters<typeof pageHeaders>[1] }
    const address = config.url + (request.raw.url ?? '').split('?', 1)[0]
    const list = body as Parameters<typeof pageHeaders>[2]
    reply.headers(pageHeaders({ address, query, declared }, page, list))
    return send(pageText(list.items, writeRow(), memory.isLarge))
  }
}

interface Bodies {
  readonly success: number
  readonly schemaOf: (status: number) => TSchema | null | undefined
  readonly writerOf: (status: number) => (body: unknown) => string
}

/** The statuses that an operation answers with, and the functions that write their bodies. */
function compileBodies(op: NamedOperation, checkAnswers: AnswerCheck | undefined): Bodies {
  const success = successOf(op)
  const writers = new Map<number, (body: unknown) => string>()
  const schemaOf: Bodies['schemaOf'] = (status) => (status === success ? op.returns : op.also?.[status])
  const writerOf: Bodies['writerOf'] = (status) => {
    const known = writers.get(status)
    if (known) return known
    const schema = schemaOf(status)
    if (!schema) throw new Error(`${op.name} answers ${status}, which it does not declare`)
    const made = writer(op.name, schema, checkAnswers)
    writers.set(status, made)
    return made
  }
  return { success, schemaOf, writerOf }
}

/** Makes the function that turns what a write returned into the answer that is kept for it; undefined for a download. */
export function compileKept(
  op: NamedOperation,
  checkAnswers: AnswerCheck | undefined,
): (result: unknown) => KeptAnswer | undefined {
  const { success, schemaOf, writerOf } = compileBodies(op, checkAnswers)
  return (result) => {
    if (result instanceof Download) return undefined
    const { status, body, headers } = result instanceof Answer ? result : new Answer(success, result)
    const isEmpty = status === 204 || schemaOf(status) === null
    return new KeptAnswer(status, headers, isEmpty ? undefined : writerOf(status)(body))
  }
}

/** Sends bytes; to HEAD, and to a caller who has them already, nothing but the headers. */
function sendBytes(
  request: FastifyRequest,
  reply: FastifyReply,
  { headers, open, size }: Download,
): FastifyReply | Promise<FastifyReply> {
  const { etag } = headers
  const seen = request.headers['if-none-match']
  if (etag !== undefined && seen !== undefined && names(seen, etag.replace(/^W\//, '').slice(1, -1)))
    return reply.code(304).header('etag', etag).send()
  reply.code(200)
  if (size !== undefined) return sendFile(request, reply, { headers, open, size })
  // Of a stream the framework lets the length stand that is declared; of nothing it would say 0.
  if (request.method === 'HEAD') return reply.headers(headers).send(Readable.from([]))
  return open().then((body) => reply.headers(headers).send(body))
}

/** Sends a file of known size, or the part of it that was asked for. */
function sendFile(
  request: FastifyRequest,
  reply: FastifyReply,
  { headers, open, size }: Pick<Download, 'headers' | 'open'> & { readonly size: number },
): FastifyReply | Promise<FastifyReply> {
  const { 'if-range': ifRange, range: wanted } = request.headers
  const isSame = ifRange === undefined || ifRange === headers['etag']
  const range = isSame ? rangeOf(wanted, size) : undefined
  if (range === 'none') throw rangeNotSatisfiable(size)
  const { start, end } = range ?? { start: 0, end: size - 1 }
  const send = (body: Readable): FastifyReply => {
    reply.headers({ ...headers, 'accept-ranges': 'bytes', 'content-length': String(end - start + 1) })
    if (range !== undefined) reply.code(206).header('content-range', `bytes ${start}-${end}/${size}`)
    return reply.send(body)
  }
  // Where opening fails, the refusal has none of these headers.
  return request.method === 'HEAD' ? send(Readable.from([])) : open(range).then(send)
}

const onceCalled = <T>(make: () => T): (() => T) => {
  let made: { readonly it: T } | undefined
  return () => (made ??= { it: make() }).it
}

const textOf = memoizeByObject((schema: TSchema) =>
  fastJson(inOrder(schema) as Parameters<typeof fastJson>[0]),
)

/** Makes the function that turns an answer into text by its schema; with `checkAnswers` it throws where they differ. */
export function writer(
  name: string,
  schema: TSchema,
  checkAnswers: AnswerCheck | undefined,
): (body: unknown) => string {
  const write = textOf(schema)
  if (!checkAnswers) return write
  const validator = checkAnswers(schema)
  return (body) => {
    if (validator.Check(body)) return write(body)
    const faults = validator.Errors(body).map((e) => `${e.instancePath} ${e.message}`)
    throw new Error(`${name} does not answer what it declares: ${faults.join(', ')}`)
  }
}

/**
 * The same schema for the serialiser, which would write all required fields of an object before the others: with its
 * first field required alone, it writes them in the order in which they are declared.
 */
function inOrder(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(inOrder)
  if (typeof schema !== 'object' || schema === null) return schema
  const copy = Object.fromEntries(Object.entries(schema).map(([key, one]) => [key, inOrder(one)]))
  const { anyOf, properties, required } = copy
  // The serialiser tells the forms of a union by their required fields.
  if (isUnion(schema) && Array.isArray(anyOf))
    return {
      ...copy,
      anyOf: anyOf.map((form: object, i) => ({ ...form, required: schema.anyOf[i]?.required ?? [] })),
    }
  if (typeof properties !== 'object' || properties === null || !Array.isArray(required)) return copy
  const [first] = Object.keys(properties)
  return first !== undefined && required.includes(first) ? { ...copy, required: [first] } : copy
}

/** Whether a schema is of several kinds of objects. */
const isUnion = (schema: object): schema is { anyOf: { type?: string; required?: string[] }[] } =>
  'anyOf' in schema &&
  Array.isArray(schema.anyOf) &&
  schema.anyOf.length > 1 &&
  schema.anyOf.every((form: { type?: string }) => form.type === 'object')

interface Sending {
  readonly status: number
  readonly text: AnswerText
  readonly memory: AnswerMemory
  readonly stallMs: number
}

/**
 * Sends JSON in bytes: to text the framework would add a charset, and clients compare to the letter. A GET that the caller
 * already has, by its `If-None-Match`, is 304. A client that takes nothing of it for `stallMs` is disconnected.
 */
function sendText(
  request: FastifyRequest,
  reply: FastifyReply,
  { status, text, memory, stallMs }: Sending,
): FastifyReply {
  reply.header('content-type', 'application/json')
  if (typeof text !== 'string')
    return reply.code(status).send(request.method === 'HEAD' ? Readable.from([]) : text(stallMs))
  const bytes = Buffer.from(text)
  if (status === 200 && (request.method === 'GET' || request.method === 'HEAD')) {
    memory.add(bytes.length)
    const tag = tagOf(bytes)
    reply.header('etag', `W/"${tag}"`)
    const seen = request.headers['if-none-match']
    if (seen !== undefined && names(seen, tag)) return reply.code(304).removeHeader('content-type').send()
  }
  if (bytes.length > MAX_UNWATCHED_BYTES) reply.raw.setTimeout(stallMs, () => reply.raw.destroy())
  return reply.code(status).send(bytes)
}
