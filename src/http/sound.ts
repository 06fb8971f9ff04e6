import type { Static, TObject, TProperties } from 'typebox'
import type { AnyGate, Gate } from './gate.ts'

// Checks by the compiler: gates stand in order, and one of them loads every id in the path.

export type Gates = readonly AnyGate[]
export type Given<G extends Gates> = G extends readonly [
  Gate<infer _K, infer _P, infer _N, infer Gives>,
  ...infer Rest extends Gates,
]
  ? Gives & Given<Rest>
  : object
type Loaded<G extends Gates> = G[number] extends infer One
  ? One extends Gate<'loads', infer Param, never, object>
    ? Param
    : never
  : never
type Names<P extends string> = P extends `${infer Rest}.json`
  ? Names<Rest>
  : P extends `${string}:${infer Name}/${infer Rest}`
    ? Name | Names<`/${Rest}`>
    : P extends `${string}:${infer Name}`
      ? Name
      : never
type InOrder<G extends Gates, Have extends object = object> = G extends readonly [
  Gate<infer _K, infer _P, infer Needs, infer Gives>,
  ...infer Rest extends Gates,
]
  ? Have extends Needs
    ? InOrder<Rest, Have & Gives>
    : false
  : true

/** Path names that mean a record, so a gate must load them; the rest (:sha, :email) may be plain params. */
type RawId<P extends string, Q> = Extract<Names<P> & keyof Q, 'id' | `${string}_id` | `${string}_iid`>

/** The parameters, for gates that stand behind them. */
export interface Read<Q extends TProperties> {
  readonly params: Static<TObject<Q>>
}

/** Rules for an operation. The error stands at `summary`, whose short type leaves one line of it. */
export type Sound<P extends string, F extends Gates, G extends Gates, Q extends TProperties> =
  Exclude<Names<P>, Loaded<[...F, ...G]> | keyof Q> extends never
    ? [RawId<P, Q>] extends [never]
      ? 'allows' extends [...F, ...G][number]['kind']
        ? [InOrder<F>, InOrder<G, Given<F> & Read<Q>>] extends [true, true]
          ? unknown
          : { readonly summary: 'a gate stands before what it needs' }
        : { readonly summary: 'no gate says who may call' }
      : { readonly summary: `:${RawId<P, Q>} names a record: load it with a gate` }
    : { readonly summary: `nothing reads :${Exclude<Names<P>, Loaded<[...F, ...G]> | keyof Q> & string}` }
