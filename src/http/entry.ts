import type { IncomingHttpHeaders } from 'node:http'
import { Type as t, type TObject } from 'typebox'
import type { Instance } from '../instance.ts'
import { emptyTree, type Tree } from './params/forms.ts'
import type { Actor, Preload, AnyGate, Context, Transact } from './gate.ts'
import { memoizeByObject } from './memoize.ts'
import { gatesOf, pageOptionsOf, type NamedOperation } from './operation.ts'
import { pageParams, readPage } from './answers/pages.ts'
import { compileOne, compileReader } from './params/params.ts'
import { compileUnmodified } from './precondition.ts'
import { badParams } from './problems.ts'

export interface Visit {
  readonly method: string
  readonly headers: IncomingHttpHeaders
  /** Query and body, as sent. */
  readonly sent: Tree
  readonly ip: string
  /** The record to read in the same round trip as the token. */
  readonly preload: { readonly kind: Preload; readonly ref: string } | undefined
  /** Scopes that open the operation beside `api` and `read_api`. */
  readonly scopes?: readonly string[]
  /** Whether a token may come as the password of HTTP Basic. */
  readonly basic?: boolean
  /** Whether it may be the token of a running job, or a deploy token. */
  readonly jobTokens?: boolean
  readonly deployTokens?: boolean
  /** Whether a parameter is the credential, so that no other token is read. */
  readonly ownToken?: boolean
}
export interface Visitor {
  readonly actor: Actor | null
  readonly tokenId: number | null
  /** The owner of the token, where it is not the actor. */
  readonly owner?: Actor
  /** The running job whose token it is, or the id of the deploy token. */
  readonly jobId?: number
  readonly deployTokenId?: number
  readonly preloaded: unknown
}

/** The record to read in the same round trip as the token. */
export function compilePreload(op: NamedOperation): (path: PathParams) => Visit['preload'] {
  const beside = gatesOf(op).find((gate) => gate.preload !== undefined)
  const { preload: kind, param } = beside ?? {}
  if (kind === undefined || param === undefined) return () => undefined
  return (path) => ({ kind, ref: readRef(path, param) })
}

/** The context of gates and handlers, as the kernel builds it. */
export type AnyContext = Context & Record<string, unknown>

export const contextOf = (instance: Instance, visitor: Visitor, { method, headers }: Visit): AnyContext =>
  Object.assign(Object.create(null) as object, instance, {
    actor: visitor.actor,
    tokenId: visitor.tokenId,
    jobId: visitor.jobId ?? null,
    deployTokenId: visitor.deployTokenId ?? null,
    preloaded: visitor.preloaded,
    now: new Date(),
    method,
    bytes: Buffer.alloc(0),
    header: (name: string) => [headers[name]].flat()[0],
    stillMatches: async () => {},
    transact: ((ctx, work) => ctx.db.transaction((db) => work({ ...ctx, db }))) satisfies Transact,
  }) as AnyContext

type Entry = (ctx: AnyContext, sent: Tree, path: PathParams) => Promise<void>

/** All that stands before the handler: gates, parameters, gates. It is made when the operation is first called. */
export const entryOf = memoizeByObject((op: NamedOperation): Entry => {
  const first = compileGates(op.first ?? [])
  const gates = compileGates(op.gates)
  const read = compileParams(op)
  const page = pageOptionsOf(op.returns)
  const checkUnmodified = compileUnmodified(op)
  return async (ctx, sent, path) => {
    await walk(first, ctx, path)
    const params = read(sent, path)
    if (page) ctx['page'] = readPage(params, page)
    ctx['params'] = params
    await walk(gates, ctx, path)
    checkUnmodified(ctx)
  }
})

/** A path parameter that is read before the parameters are: it must be text PostgreSQL can compare. */
function readRef(path: PathParams, name: string): string {
  const ref = path[name] ?? ''
  if (ref.includes('\0') || !ref.isWellFormed()) throw badParams([`${name} is invalid`])
  return ref
}

export type PathParams = Readonly<Record<string, string>>
interface Step {
  readonly gate: AnyGate
  readonly read: (path: PathParams) => unknown
}

/** Makes the steps that gates are passed in. */
export function compileGates(gates: readonly AnyGate[]): Step[] {
  return gates.map((gate) => {
    const { param, type } = gate
    if (param === undefined || type === undefined) return { gate, read: () => undefined }
    const one = compileOne(type, param)
    return { gate, read: (path) => one(path[param] ?? '') }
  })
}

/** Passes one gate after the other. Throws the refusal of the first that stays shut. */
export async function walk(steps: readonly Step[], ctx: Context, path: PathParams): Promise<void> {
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
