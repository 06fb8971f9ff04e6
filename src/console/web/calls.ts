import type { TSchema } from 'typebox'
import type { Db } from '../../db/db.ts'
import type { Instance } from '../../instance.ts'
import { enter, actorOf, foundIn } from '../../access/entry_row.ts'
import { writer } from '../../http/answers/answers.ts'
import {
  compilePreload,
  contextOf,
  entryOf,
  type AnyContext,
  type Visit,
  type Visitor,
} from '../../http/entry.ts'
import { memoizeByObject } from '../../http/memoize.ts'
import { Answer, pageOptionsOf, type NamedOperation, type PageRequest } from '../../http/operation.ts'
import { emptyTree, type Tree, type Value } from '../../http/params/forms.ts'
import { unauthorized } from '../../http/problems.ts'
import { write } from '../../http/writes.ts'
import type { Surroundings } from '../../http/surroundings.ts'

/** Parameters of an operation, those of its path among them. */
export type Params = Readonly<Record<string, Value | undefined>>

/** A page of a list. */
export interface List<T> {
  readonly items: readonly T[]
  readonly page: number
  /** Undefined past 10,000 records and on lists without totals. */
  readonly total: number | undefined
  readonly hasNext: boolean
}

/** Operations of the interface, called by name as the viewer: their gates, their handler, their JSON. */
export interface Calls {
  /** The JSON of an answer. Throws the operation's Problem. */
  readonly one: <T>(name: string, params?: Params) => Promise<T>
  readonly list: <T>(name: string, params?: Params) => Promise<List<T>>
  /** The answer as its handler gives it: for files. */
  readonly raw: (name: string, params?: Params) => Promise<unknown>
}

type Around = Pick<Surroundings, 'instance' | 'checkAnswers'>
interface Ran {
  readonly op: NamedOperation
  readonly ctx: AnyContext
  readonly result: unknown
}
type Run = (name: string, params?: Params) => Promise<Ran>

/** Splits parameters into those of the path and those that are sent. */
function placed(op: NamedOperation, params: Params): { path: Record<string, string>; sent: Tree } {
  const sent = emptyTree()
  for (const [key, value] of Object.entries(params)) if (value !== undefined) sent[key] = value
  const path: Record<string, string> = {}
  for (const [, key = ''] of op.path.matchAll(/:(\w+)/g)) {
    const value = sent[key]
    path[key] = typeof value === 'string' ? value : JSON.stringify(value)
    delete sent[key]
  }
  return { path, sent }
}

/** Makes the function that runs operations as a user, or as nobody: sign-in row, gates, handler. */
function createRun(
  byName: ReadonlyMap<string, NamedOperation>,
  instance: Instance,
): (userId: number | null) => Run {
  const preloadOf = memoizeByObject(compilePreload)
  const visitorOf = async (userId: number | null, preload: Visit['preload']): Promise<Visitor> => {
    const row = await enter(instance.db, userId === null ? 'nobody' : 'user_id', userId, preload)
    await instance.settings.catchUp(row.settings_version)
    if (userId !== null && row.user_state !== 'active') throw unauthorized()
    return { actor: actorOf(row), tokenId: null, preloaded: foundIn(row) }
  }
  return (userId) =>
    async (name, params = {}) => {
      const op = byName.get(name)
      if (op === undefined) throw new Error(`no operation is named ${name}`)
      const { path, sent } = placed(op, params)
      const visit = { method: op.method, headers: {}, sent, ip: '', preload: preloadOf(op)(path) }
      const enterAgain = async (db: Db): Promise<AnyContext> => {
        const ctx = contextOf({ ...instance, db }, await visitorOf(userId, visit.preload), visit)
        await entryOf(op)(ctx, sent, path)
        return ctx
      }
      const ctx = await enterAgain(instance.db)
      const matches = async (): Promise<void> => {}
      const result =
        op.method === 'GET'
          ? await op.handle(ctx as never)
          : await write(op, { instance, ctx, enterAgain, matches, conditional: false, attempt: undefined })
      return { op, ctx, result }
    }
}

/** Makes the function that gives a viewer, by the id of a user, the operations of the interface. */
export function createCalls(
  operations: readonly NamedOperation[],
  { instance, checkAnswers }: Around,
): (userId: number | null) => Calls {
  const runAs = createRun(new Map(operations.map((op) => [op.name, op])), instance)
  const writerOf = memoizeByObject((schema: TSchema) => writer('console', schema, checkAnswers))
  const parsed = (schema: TSchema | null, body: unknown): unknown =>
    schema === null || body === null || body === undefined ? null : JSON.parse(writerOf(schema)(body))

  return (userId) => {
    const run = runAs(userId)
    return {
      raw: async (name, params) => (await run(name, params)).result,
      one: async <T>(name: string, params?: Params): Promise<T> => {
        const { op, result } = await run(name, params)
        if (!(result instanceof Answer)) return parsed(op.returns, result) as T
        return parsed(op.also?.[result.status] ?? op.returns, result.body) as T
      },
      list: async <T>(name: string, params?: Params): Promise<List<T>> => {
        const { op, ctx, result } = await run(name, params)
        if (pageOptionsOf(op.returns) === undefined) throw new Error(`${name} is no list`)
        const { items, total, next } = result as { items: unknown[]; total?: number; next?: unknown }
        const { limit, number } = ctx['page'] as PageRequest
        const isFull = next !== undefined || items.length === limit
        const hasNext = total === undefined ? isFull : number * limit < total
        return { items: parsed(op.returns, items) as T[], page: number, total, hasNext }
      },
    }
  }
}
