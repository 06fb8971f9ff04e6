import type { Static, TArray, TNull, TObject, TProperties, TSchema } from 'typebox'
import { Type as t } from 'typebox'
import type { Listed } from '../db/pages.ts'
import type { Context } from './gate.ts'
import type { Inbound } from './inbound_limits.ts'
import type { Problem } from './problems.ts'
import type { Gates, Given, Read, Sound } from './sound.ts'
import type { Upload } from './params/upload.ts'

type Headers = Readonly<Record<string, string>>

/** An answer other than the declared one: a status the operation lists under `also`, or headers of its own. */
export class Answer {
  readonly status: number
  readonly body: unknown
  readonly headers: Headers
  constructor(status: number, body: unknown = null, headers: Headers = {}) {
    this.status = status
    this.body = body
    this.headers = headers
  }
}

/** The page that a caller asked for. `offset` counts records. */
export interface PageRequest {
  readonly number: number
  readonly limit: number
  readonly offset: number
  /** Set when the caller asked for keyset pagination and the list has it: the cursor, '' for the first page. */
  readonly cursor: string | undefined
}

/** A page found by position after a cursor: no totals, `next` is the next page's cursor, or the parameters that lead there. */
export interface Keyset<Item> {
  readonly items: readonly Item[]
  readonly next: string | Readonly<Record<string, string>> | undefined
}

/** The schema of a paginated list; the kernel adds its parameters, headers and links. */
export type PageSchema<Item extends TSchema> = TArray<Item> & { readonly page: PageOptions }
export interface PageOptions {
  /** Offers `pagination=keyset` too. */
  readonly keyset: boolean
  /** Refuses pages below 1, as the newest published contract of commits does. */
  readonly strict: boolean
  /** Records of a page, where they are fewer than usual. */
  readonly most?: number
}
export const pageOf = <Item extends TSchema>(
  items: Item,
  options: Partial<PageOptions> = {},
): PageSchema<Item> => {
  const schema = t.Array(items)
  Object.defineProperty(schema, 'page', { value: { keyset: false, strict: false, ...options } })
  return schema as PageSchema<Item>
}

/** The schema of an answer without a body: status 204. */
export const nothing = t.Null()

type Result<R extends TSchema> =
  R extends PageSchema<infer Item>
    ? Listed<Static<Item>> | Keyset<Static<Item>>
    : Static<R> | Answer | (R extends TNull ? void : never)
type Paging<R extends TSchema> = R extends PageSchema<TSchema> ? { readonly page: PageRequest } : object

/** Bytes of a body that holds a text of a million signs, each of them written as `\u00e9` if its sender likes. */
export const LONG_TEXT = 7 * 1024 * 1024

type Refusal = Problem | (() => Problem)

/** One endpoint. The fields are written in the order they run. */
export interface Operation<
  P extends string,
  F extends Gates,
  Q extends TProperties,
  G extends Gates,
  R extends TSchema,
  B,
> {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'
  /** Below `/api/v4`; a path that begins with `{base_url}` is below the server's own address. */
  readonly path: P
  readonly summary: string
  /** Set where the specification leaves the path open and the published interface has it. */
  readonly published?: true
  /** Set where another operation is to be called instead. */
  readonly deprecated?: true
  /** Bytes of a body, where they are more than usual: who sends so many is signed in, and past `first`, before they are read. */
  readonly takes?: number
  /**
   * `refs` where git refs move: git first, then the rows, by single statements and without a transaction. The reconciler
   * of `core/pushes/reconciler.ts` mends a crash between the two. `upstream` where a POST waits for another server, without a
   * transaction. `rows` where git is read before or after the rows are written: the handler writes
   * them in one `ctx.transact`.
   */
  readonly moves?: 'refs' | 'upstream' | 'rows'
  /** Scopes of a token that open it, beside `api`, and `read_api` where it only reads. */
  readonly scopes?: readonly string[]
  /** Set where the token of a running job opens it, as the job's user, or a deploy token, without a user. */
  readonly jobTokens?: true
  readonly deployTokens?: true
  /** Set where a parameter is the credential: runners repeat it as `PRIVATE-TOKEN`, so tokens of users are ignored. */
  readonly ownToken?: true
  /**
   * Set where clients may send their token as the password of HTTP Basic: the `WWW-Authenticate` of a 401. A reader whose
   * password will not do is taken for a caller without a token, as published.
   */
  readonly challenge?: string
  /** Parameters of the GET at the same path by their names here, where those differ: `If-Match` is about its answer. */
  readonly reads?: Readonly<Record<string, string>>
  /** Gates that stand before the parameters are read; they see path parameters only. */
  readonly first?: F
  readonly params?: TObject<Q>
  readonly gates: G
  /**
   * Set where the body is a file or has files in it: it is a stream, and no source of parameters. This runs when all gates
   * are passed, outside any transaction. Then the gates are asked again, and the handler has what it answers as `received`.
   */
  readonly receives?: (ctx: Context & Given<[...F, ...G]> & Read<Q>, upload: Upload) => Promise<B>
  readonly handle: (
    ctx: Context & Given<[...F, ...G]> & Paging<R> & Read<Q> & { readonly received: B },
  ) => Promise<Result<R>>
  readonly returns: R
  /** The status of success when it is not the method's usual one: 201 for POST, 204 for `nothing`, else 200. */
  readonly status?: number
  /** Other successes: status to schema of the body, or null for none. */
  readonly also?: Readonly<Record<number, TSchema | null>>
  /** Refusals of the handler itself, beside those of its gates and parameters: their functions, or examples of them. */
  readonly refuses?: readonly Refusal[]
}

/** An operation as the kernel sees it: typed on the inside, uniform on the outside. */
export interface AnyOperation {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'
  readonly path: string
  readonly summary: string
  readonly published?: true
  readonly deprecated?: true
  readonly takes?: number
  readonly inbound?: Inbound
  readonly moves?: 'refs' | 'upstream' | 'rows'
  readonly scopes?: readonly string[]
  readonly jobTokens?: true
  readonly deployTokens?: true
  readonly ownToken?: true
  readonly challenge?: string
  readonly reads?: Readonly<Record<string, string>>
  readonly first?: Gates
  readonly params?: TObject
  readonly gates: Gates
  readonly receives?: (ctx: never, upload: Upload) => Promise<unknown>
  readonly handle: (ctx: never) => Promise<unknown>
  readonly returns: TSchema
  readonly status?: number
  readonly also?: Readonly<Record<number, TSchema | null>>
  readonly refuses?: readonly Refusal[]
}

export function operation<
  const P extends string,
  const G extends Gates,
  R extends TSchema,
  const F extends Gates = [],
  Q extends TProperties = Record<never, never>,
  B = undefined,
>(definition: Sound<P, F, G, Q> & Operation<P, F, Q, G, R, B>): AnyOperation {
  return definition
}

/** An operation with its place in the service: `name` is unique and serves as operationId, log field and metric. */
export interface NamedOperation extends AnyOperation {
  readonly name: string
  readonly area: string
}

export const gatesOf = (operation: AnyOperation): Gates => [...(operation.first ?? []), ...operation.gates]
export const pageOptionsOf = (schema: TSchema): PageOptions | undefined =>
  (schema as Partial<PageSchema<TSchema>>).page
export const successOf = ({ status, returns, method }: AnyOperation): number =>
  status ?? (returns === nothing ? 204 : method === 'POST' ? 201 : 200)
