import type { Static, TSchema } from 'typebox'
import type { Instance } from '../instance.ts'
import { noSuchRecord, type Problem } from './problems.ts'

/** The caller. */
export interface Actor {
  readonly id: number
  readonly username: string
  readonly name: string
  readonly email: string
  readonly admin: boolean
  readonly external: boolean
}

export interface Context extends Instance {
  readonly actor: Actor | null
  /** The id of the token that was presented; null without one. */
  readonly tokenId: number | null
  /** The running job whose token was presented, or the deploy token, which acts for no user; null for any other token. */
  readonly jobId: number | null
  readonly deployTokenId: number | null
  readonly now: Date
  /** As sent; a GET answers HEAD too. */
  readonly method: string
  /** The body of an inbound request; empty elsewhere. */
  readonly bytes: Buffer
  /** A request header, by its lower-case name. */
  readonly header: (name: string) => string | undefined
  /** The record read in the same round trip as the caller's token; only the gate that asked for it reads this. */
  readonly preloaded: unknown
  /**
   * Operations that move refs call it under the lock of the refs: throws 412 where `If-Match` no longer holds, and the
   * refusal of a gate that no longer passes.
   */
  readonly stillMatches: () => Promise<void>
  readonly transact: Transact
}

/**
 * Runs `work` in one transaction, with the context of that transaction: for operations around which none stands. A
 * conditional write passes its gates and its condition again inside, on one snapshot.
 */
export type Transact = <Ctx extends Context, Result>(
  ctx: Ctx,
  work: (ctx: Ctx) => Promise<Result>,
) => Promise<Result>

/** Which records can be read together with the token, in one statement. */
export type Preload = 'project' | 'group' | 'namespace'

/**
 * One step between a request and its handler. A gate lets the request through, perhaps adding what it loaded,
 * or throws the Problem it declares. `says` is its line in the documents, `refuses` its refusal.
 */
export interface Gate<
  Kind extends 'loads' | 'allows' | 'enables' | 'checks',
  Param extends string,
  Needs extends object,
  Gives extends object,
> {
  readonly kind: Kind
  readonly param?: Param
  readonly type?: TSchema
  /** The name under which a record that it loads stands in the context. */
  readonly as?: string
  readonly preload?: Preload
  /** The least licence tier, on gates that a licence opens. */
  readonly tier?: string
  /** The least tier of the plan of a record's top-level namespace, on gates that one opens on the hosted offering. */
  readonly plan?: string
  /** The name of the feature flag, on gates that one opens. */
  readonly flag?: string
  /** The least access level, on gates that a role opens. */
  readonly level?: number
  readonly says: string
  readonly refuses: () => Problem
  readonly pass: (ctx: Context & Needs, param: never) => Promise<Gives | undefined> | Gives | undefined
}
export type Loads<Param extends string, Needs extends object, Gives extends object> = Gate<
  'loads',
  Param,
  Needs,
  Gives
>
export type Allows<Needs extends object = object, Gives extends object = object> = Gate<
  'allows',
  never,
  Needs,
  Gives
>
export type AnyGate = Gate<'loads' | 'allows' | 'enables' | 'checks', string, never, object>
/** The context of a gate or handler that stands behind gates which give `Needs`. */
export type Has<Needs extends object> = Context & Needs

/** A gate that finds one record by one path parameter, through what earlier gates loaded, or answers 404. */
export function loads<
  const Param extends string,
  T extends TSchema,
  const Name extends string,
  Needs extends object,
  Row,
>(gate: {
  readonly param: Param
  readonly type: T
  readonly as: Name
  readonly says: string
  readonly preload?: Preload
  readonly missing?: () => Problem
  readonly find: (ctx: Context & Needs, value: Static<T>) => Promise<Row | undefined> | Row | undefined
}): Loads<Param, Needs, { readonly [K in Name]: Row }> {
  return {
    kind: 'loads',
    param: gate.param,
    type: gate.type,
    as: gate.as,
    says: gate.says,
    ...(gate.preload && { preload: gate.preload }),
    refuses: gate.missing ?? noSuchRecord,
    pass: async (ctx, value) => {
      const row = await gate.find(ctx, value)
      return row === undefined ? undefined : ({ [gate.as]: row } as { readonly [K in Name]: Row })
    },
  }
}

interface Condition<Needs extends object> {
  readonly tier?: string
  readonly flag?: string
  readonly level?: number
  readonly says: string
  readonly refuses: () => Problem
  readonly holds: (ctx: Context & Needs) => boolean
}
const condition =
  <Kind extends 'allows' | 'enables' | 'checks'>(kind: Kind) =>
  <Needs extends object = object>({
    holds,
    ...rest
  }: Condition<Needs>): Gate<Kind, never, Needs, object> => ({
    kind,
    ...rest,
    pass: (ctx) => (holds(ctx) ? {} : undefined),
  })
/** A gate that decides who may call. */
export const allows = condition('allows')
/** A gate that a licence or a feature flag opens. */
export const enables = condition('enables')
/** A gate that the state of a record closes. */
export const checks = condition('checks')
