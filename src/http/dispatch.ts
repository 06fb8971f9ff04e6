import { hash } from 'node:crypto'
import type { IncomingHttpHeaders } from 'node:http'
import fastJson from 'fast-json-stringify'
import type { FastifyInstance, FastifyReply, FastifyRequest, HTTPMethods } from 'fastify'
import { Type as t, type TObject, type TSchema } from 'typebox'
import { Compile } from 'typebox/compile'
import type { Instance } from '../instance.ts'
import { emptyTree, parseForm, type Tree } from './forms.ts'
import {
  Answer,
  gatesOf,
  pageOptionsOf,
  successOf,
  type Actor,
  type Along,
  type AnyGate,
  type Context,
  type NamedOperation,
} from './operation.ts'
import { pageHeaders, pageParams, readPage } from './pages.ts'
import { compileOne, compileReader } from './params.ts'
import { badParams, methodNotAllowed } from './problems.ts'

export interface Visit {
  readonly method: string
  readonly headers: IncomingHttpHeaders
  /** Query and body, as sent. */
  readonly sent: Tree
  readonly ip: string
  /** The record to read in the same round trip as the token. */
  readonly along: { readonly kind: Along; readonly ref: string } | undefined
}
export interface Visitor {
  readonly actor: Actor | null
  readonly along: unknown
  /** Headers that every answer to this visitor carries. */
  readonly headers?: Readonly<Record<string, string>>
}

export interface Surroundings {
  readonly instance: Instance
  /** Tells who is calling. Throws the published Problem for a token that will not do. */
  readonly signIn: (visit: Visit) => Promise<Visitor>
  /** Holds every answer against its schema: for tests; production only filters. */
  readonly checkAnswers: boolean
}

const METHODS: readonly HTTPMethods[] = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']

/** Mounts every operation below `prefix`, with HEAD for each GET and 405 for the methods a path does not have. */
export function mount(
  app: FastifyInstance,
  prefix: string,
  operations: readonly NamedOperation[],
  surroundings: Surroundings,
): void {
  for (const op of operations)
    app.route({
      method: op.method,
      url: prefix + op.path,
      config: { operation: op.name },
      handler: compile(op, surroundings),
    })
  for (const [path, methods] of methodsByPath(operations)) {
    const allow = [...methods, ...(methods.has('GET') ? ['HEAD'] : [])].sort().join(', ')
    app.route({
      method: METHODS.filter((method) => !methods.has(method)),
      url: prefix + path,
      handler: () => {
        throw methodNotAllowed(allow)
      },
    })
  }
}

function methodsByPath(operations: readonly NamedOperation[]): Map<string, Set<string>> {
  const paths = new Map<string, Set<string>>()
  const keys = new Map<string, string>()
  for (const { path, method } of operations) {
    const shape = path.replaceAll(/:\w+/g, ':')
    const key = keys.get(shape) ?? path
    keys.set(shape, key)
    paths.set(key, (paths.get(key) ?? new Set()).add(method))
  }
  return paths
}

type Handler = (request: FastifyRequest, reply: FastifyReply) => Promise<FastifyReply>
type PathParams = Readonly<Record<string, string>>

/** What happens here, in this order, happens to every request. */
function compile(op: NamedOperation, { instance, signIn, checkAnswers }: Surroundings): Handler {
  const first = compileGates(op.first ?? [])
  const gates = compileGates(op.gates)
  const beside = gatesOf(op).find((gate) => gate.along !== undefined)
  const read = compileParams(op)
  const run = compileHandle(op)
  const answer = compileAnswer(op, checkAnswers)
  const page = pageOptionsOf(op.returns)

  return async (request, reply) => {
    const path = request.params as PathParams
    const query = (request.query as { text: string }).text
    const sent = Object.assign(parseForm(query), request.body)
    const along = beside?.along && beside.param && { kind: beside.along, ref: readRef(path, beside.param) }
    const visit = {
      method: request.method,
      headers: request.headers,
      sent,
      ip: request.ip,
      along: along || undefined,
    }
    const visitor = await signIn(visit)
    if (visitor.headers) reply.headers(visitor.headers)
    request.actor = visitor.actor

    const ctx = Object.assign(Object.create(null) as object, instance, {
      actor: visitor.actor,
      along: visitor.along,
      now: new Date(),
      header: (name: string) => headerOf(request.headers, name),
    }) as Context & Record<string, unknown>
    await walk(first, ctx, path)
    const params = read(sent, path)
    if (page) ctx['page'] = readPage(params, page.keyset)
    ctx['params'] = params
    await walk(gates, ctx, path)

    const result = await run(ctx, instance)
    return answer(request, reply, result, { ctx, query })
  }
}

/** A path parameter that is read before the parameters are: it must be text PostgreSQL can compare. */
function readRef(path: PathParams, name: string): string {
  const ref = path[name] ?? ''
  if (ref.includes('\0') || !ref.isWellFormed()) throw badParams([`${name} is invalid`])
  return ref
}

const headerOf = (headers: IncomingHttpHeaders, name: string): string | undefined => {
  const value = headers[name]
  return Array.isArray(value) ? value[0] : value
}

interface Step {
  readonly gate: AnyGate
  readonly read: (path: PathParams) => unknown
}

function compileGates(gates: readonly AnyGate[]): Step[] {
  return gates.map((gate) => {
    const { param, type } = gate
    if (param === undefined || type === undefined) return { gate, read: () => undefined }
    const one = compileOne(type, param)
    return { gate, read: (path) => one(path[param] ?? '') }
  })
}

async function walk(steps: readonly Step[], ctx: Context, path: PathParams): Promise<void> {
  for (const { gate, read } of steps) {
    const passed = gate.pass(ctx as never, read(path) as never)
    const given = passed instanceof Promise ? await passed : passed
    if (given === undefined) throw gate.refuses()
    Object.assign(ctx, given)
  }
}

/** The reader of everything beside the gates' own path parameters; the path wins over body and query. */
function compileParams(op: NamedOperation): (sent: Tree, path: PathParams) => Record<string, unknown> {
  const page = pageOptionsOf(op.returns)
  const declared = op.params
  const schema = page ? withPage(declared, pageParams(page.strict)) : declared
  if (schema === undefined) return () => ({})
  const read = compileReader(schema)
  const loaded = new Set(gatesOf(op).map((gate) => gate.param))
  const named = [...op.path.matchAll(/:(\w+)/g)]
    .map(([, name = '']) => name)
    .filter((name) => !loaded.has(name))
  // A number where the path needs one is a parameter fault too, and those stand before the gates.
  const idTypes = op.gates.flatMap(({ param, type }) =>
    param && type && (type as { type?: string }).type !== 'string'
      ? [[param, compileOne(type, param)] as const]
      : [],
  )
  return (sent, path) => {
    for (const [name, one] of idTypes) one(path[name] ?? '')
    const raw = Object.assign(emptyTree(), sent)
    for (const name of named) raw[name] = path[name] ?? ''
    return read(raw)
  }
}

const withPage = (declared: TObject | undefined, page: TObject): TObject => {
  const { properties, required: _required, ...options } = declared ?? t.Object({})
  return t.Object({ ...properties, ...page.properties }, options)
}

/** A write runs in one transaction: all it does, jobs included, or nothing. */
function compileHandle(op: NamedOperation): (ctx: Context, instance: Instance) => Promise<unknown> {
  if (op.method === 'GET') return (ctx) => op.handle(ctx as never)
  return (ctx, instance) => instance.db.transaction((db) => op.handle(Object.assign(ctx, { db }) as never))
}

type Send = (
  request: FastifyRequest,
  reply: FastifyReply,
  result: unknown,
  around: { readonly ctx: Context; readonly query: string },
) => FastifyReply

function compileAnswer(op: NamedOperation, checkAnswers: boolean): Send {
  const paged = pageOptionsOf(op.returns) !== undefined
  const success = successOf(op)
  const writers = new Map<number, (body: unknown) => string>()
  const schemaOf = (status: number): TSchema | null | undefined =>
    status === success ? op.returns : op.also?.[status]
  const writerOf = (status: number): ((body: unknown) => string) => {
    const known = writers.get(status)
    if (known) return known
    const schema = schemaOf(status)
    if (!schema) throw new Error(`${op.name} answers ${status}, which it does not declare`)
    const made = writer(op.name, schema, checkAnswers)
    writers.set(status, made)
    return made
  }
  return (request, reply, result, { ctx, query }) => {
    const { status, body } = result instanceof Answer ? result : new Answer(success, result)
    if (status === 204 || schemaOf(status) === null) return reply.code(status).send()
    let items = body
    if (paged) {
      const { page, config } = ctx as Context & { page: Parameters<typeof pageHeaders>[1] }
      const place = { address: config.url + (request.raw.url ?? '').split('?', 1)[0], query }
      const list = body as Parameters<typeof pageHeaders>[2]
      reply.headers(pageHeaders(place, page, list))
      items = list.items
    }
    return sendJson(request, reply, status, writerOf(status)(items))
  }
}

function writer(name: string, schema: TSchema, checkAnswers: boolean): (body: unknown) => string {
  const write = fastJson(schema as Parameters<typeof fastJson>[0])
  if (!checkAnswers) return write
  const validator = Compile(schema)
  return (body) => {
    if (validator.Check(body)) return write(body)
    const faults = validator.Errors(body).map((e) => `${e.instancePath} ${e.message}`)
    throw new Error(`${name} does not answer what it declares: ${faults.join(', ')}`)
  }
}

/** Sends JSON text; a GET that the caller already has, by its `If-None-Match`, is 304. */
function sendJson(request: FastifyRequest, reply: FastifyReply, status: number, text: string): FastifyReply {
  reply.header('content-type', 'application/json')
  if (status === 200 && (request.method === 'GET' || request.method === 'HEAD')) {
    const tag = hash('sha1', text, 'base64url')
    reply.header('etag', `W/"${tag}"`)
    const seen = request.headers['if-none-match']
    if (seen !== undefined && (seen.trim() === '*' || seen.includes(`"${tag}"`)))
      return reply.code(304).removeHeader('content-type').send()
  }
  // Bytes, not text: to text the framework would add a charset, and clients compare the content type to the letter.
  return reply.code(status).send(Buffer.from(text))
}
