import type { IncomingHttpHeaders } from 'node:http'
import type { FastifyInstance, FastifyReply, FastifyRequest, HTTPMethods } from 'fastify'
import { Type as t, type TObject } from 'typebox'
import type { Db } from '../db/client.ts'
import type { Instance } from '../instance.ts'
import { compileAnswer, writer, type AnswerCheck } from './answers.ts'
import { emptyTree, parseForm, type Tree } from './forms.ts'
import type { Actor, Along, AnyGate, Context } from './gate.ts'
import { Answer, gatesOf, pageOptionsOf, type NamedOperation } from './operation.ts'
import { largeBody } from './large_body.ts'
import { pageParams, readPage } from './pages.ts'
import { compileOne, compileReader } from './params.ts'
import { checkMatch, isConditional, onSnapshot } from './precondition.ts'
import { Problem, badParams, methodNotAllowed, unauthorized } from './problems.ts'

export interface Visit {
  readonly method: string
  readonly headers: IncomingHttpHeaders
  /** Query and body, as sent. */
  readonly sent: Tree
  readonly ip: string
  /** The record to read in the same round trip as the token. */
  readonly along: { readonly kind: Along; readonly ref: string } | undefined
  /** What opens the operation beside `api` and `read_api`. */
  readonly scopes?: readonly string[]
}
export interface Visitor {
  readonly actor: Actor | null
  readonly tokenId: number | null
  /** Whose token it is, when that is not the actor. */
  readonly owner?: Actor
  readonly along: unknown
}

export interface Surroundings {
  readonly instance: Instance
  /** Tells who is calling. Throws the published Problem for a token that will not do. */
  readonly signIn: (visit: Visit) => Promise<Visitor>
  /** Counts a request and gives the headers that its answer carries. Throws the published Problem for one too many. */
  readonly admit: (owner: Actor | null, ip: string) => Promise<Record<string, string>>
  /** Holds every answer against its schema: for tests; production only filters. */
  readonly checkAnswers: AnswerCheck | undefined
}

const METHODS: readonly HTTPMethods[] = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']

/** Mounts every operation below `prefix`, with HEAD for each GET and 405 for the methods a path does not have. */
export function mount(
  app: FastifyInstance,
  prefix: string,
  operations: readonly NamedOperation[],
  surroundings: Surroundings,
): void {
  const reads = new Map(operations.flatMap((op) => (op.method === 'GET' ? [[op.path, op]] : [])))
  for (const op of operations)
    app.route({
      method: op.method,
      url: prefix + op.path,
      config: { operation: op.name },
      ...(op.takes !== undefined &&
        largeBody(op.takes, surroundings.instance, compileKnock(op, surroundings))),
      handler: compile(op, surroundings, reads.get(op.path)),
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

/** What happens here, in this order, happens to every request. `read` is the GET of the same path. */
function compile(op: NamedOperation, around: Surroundings, read: NamedOperation | undefined): Handler {
  const { instance, signIn } = around
  const { scopes = [] } = op
  const alongOf = compileAlong(op)
  const enter = compileEntry(op)
  const represent = read && compileRepresent(read, around)
  const answer = compileAnswer(op, around.checkAnswers)

  return async (request, reply) => {
    const path = request.params as PathParams
    const query = (request.query as { text: string }).text
    const sent = Object.assign(parseForm(query), request.body)
    const { method, headers, ip } = request
    const visit = { method, headers, sent, ip, along: alongOf(path), scopes }
    const visitor = await signIn(visit).catch(async (refusal: unknown) => {
      if (refusal instanceof Problem) reply.headers(await around.admit(null, ip))
      throw refusal
    })
    reply.headers(await around.admit(visitor.owner ?? visitor.actor, ip))
    request.actor = visitor.actor

    const ctx = contextOf(instance, visitor, visit)
    await enter(ctx, sent, path)
    const handle = (): Promise<unknown> => {
      if (op.method === 'GET') return op.handle(ctx as never)
      const match = isConditional(op, headers) ? headers['if-match'] : undefined
      const matches = (db: Db): Promise<void> =>
        checkMatch(match, represent && (() => represent(db, visit, path)))
      if (op.moves === 'refs') return moveRefs(op, ctx, () => matches(instance.db))
      if (!isConditional(op, headers)) return write(op, ctx, instance.db)
      return onSnapshot(instance.db, async (db) => {
        const now = contextOf({ ...instance, db }, await signIn(visit), visit)
        await enter(now, sent, path)
        await matches(db)
        return op.handle(now as never)
      })
    }
    return answer(request, reply, await handle(), { ctx, query })
  }
}

/** What a caller passes before a large body is read: all that comes before the parameters, and being somebody. */
function compileKnock(
  op: NamedOperation,
  { instance, signIn }: Surroundings,
): (request: FastifyRequest) => Promise<void> {
  const { scopes = [] } = op
  const alongOf = compileAlong(op)
  const first = compileGates(op.first ?? [])
  return async ({ params, query, method, headers, ip }) => {
    const path = params as PathParams
    const sent = parseForm((query as { text: string }).text)
    const visit = { method, headers, sent, ip, along: alongOf(path), scopes }
    const visitor = await signIn(visit)
    if (visitor.actor === null) throw unauthorized()
    await walk(first, contextOf(instance, visitor, visit), path)
  }
}
/** A write runs in one transaction: all it does, jobs included, or nothing. */
const write = (op: NamedOperation, ctx: AnyContext, db: Db): Promise<unknown> =>
  db.transaction((tx) => op.handle(Object.assign(ctx, { db: tx }) as never))

/** What moves refs has no transaction around it: its condition is looked at again where nobody else can move the ref. */
async function moveRefs(
  op: NamedOperation,
  ctx: AnyContext,
  stillMatches: () => Promise<void>,
): Promise<unknown> {
  await stillMatches()
  return op.handle(Object.assign(ctx, { stillMatches }) as never)
}

/** The record to read in the same round trip as the token. */
function compileAlong(op: NamedOperation): (path: PathParams) => Visit['along'] {
  const beside = gatesOf(op).find((gate) => gate.along !== undefined)
  const { along: kind, param } = beside ?? {}
  if (kind === undefined || param === undefined) return () => undefined
  return (path) => ({ kind, ref: readRef(path, param) })
}

type AnyContext = Context & Record<string, unknown>

const contextOf = (instance: Instance, visitor: Visitor, { method, headers }: Visit): AnyContext =>
  Object.assign(Object.create(null) as object, instance, {
    actor: visitor.actor,
    tokenId: visitor.tokenId,
    along: visitor.along,
    now: new Date(),
    method,
    header: (name: string) => headerOf(headers, name),
    stillMatches: async () => {},
  }) as AnyContext

/** All that stands before the handler: gates, parameters, gates. */
function compileEntry(op: NamedOperation): (ctx: AnyContext, sent: Tree, path: PathParams) => Promise<void> {
  const first = compileGates(op.first ?? [])
  const gates = compileGates(op.gates)
  const read = compileParams(op)
  const page = pageOptionsOf(op.returns)
  return async (ctx, sent, path) => {
    await walk(first, ctx, path)
    const params = read(sent, path)
    if (page) ctx['page'] = readPage(params, page.keyset)
    ctx['params'] = params
    await walk(gates, ctx, path)
  }
}

/** Reads what a GET with the same parameters answers the same caller, all of it anew. */
function compileRepresent(
  op: NamedOperation,
  { instance, signIn, checkAnswers }: Surroundings,
): (db: Db, visit: Visit, path: PathParams) => Promise<string | undefined> {
  const alongOf = compileAlong(op)
  const enter = compileEntry(op)
  let write: ((body: unknown) => string) | undefined
  return async (db, visit, path) => {
    const visitor = await signIn({ ...visit, along: alongOf(path) })
    const ctx = contextOf({ ...instance, db }, visitor, visit)
    await enter(ctx, visit.sent, path)
    const answer = await op.handle(ctx as never)
    const result = answer instanceof Answer ? answer.body : answer
    if (result === null) return undefined
    write ??= writer(op.name, op.returns, checkAnswers)
    return write(pageOptionsOf(op.returns) ? (result as { items: unknown }).items : result)
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
