import { createHash } from 'node:crypto'
import {
  DummyDriver,
  Kysely,
  PostgresAdapter,
  PostgresIntrospector,
  PostgresQueryCompiler,
  sql,
  type RawBuilder,
} from 'kysely'
import type { Database } from './schema/tables.ts'

/** Kysely as a typed compiler: it builds and compiles, and never runs anything. */
export const q = new Kysely<Database>({
  dialect: {
    createAdapter: () => new PostgresAdapter(),
    createDriver: () => new DummyDriver(),
    createIntrospector: (db) => new PostgresIntrospector(db),
    createQueryCompiler: () => new PostgresQueryCompiler(),
  },
})

/**
 * One SQL text, compiled once, sent by name ever after; `planned: 'anew'` says that the best way to answer it depends on
 * the values, so that PostgreSQL shall never settle for one. `bind` puts values where the text has its parameters.
 */
export interface Statement<Values extends object, Row> {
  readonly name: string
  readonly planned?: 'anew'
  readonly text: string
  readonly bind: (values: Values) => unknown[]
  readonly '~row'?: Row
}

/** A part of a statement. */
export type Sql = RawBuilder<unknown>

/** Stands for a value that is known only when the statement runs. */
export type Slots<Values extends object> = { readonly [Name in keyof Values]-?: RawBuilder<Values[Name]> }

interface Compilable<Row> {
  compile(): { readonly sql: string; readonly parameters: readonly unknown[]; readonly query: unknown }
  execute(...executor: never[]): Promise<Row[] | { readonly rows: Row[] }>
}

class Slot {
  readonly name: string
  constructor(name: string) {
    this.name = name
  }
}

/**
 * Declares a statement. `build` runs once, when the statement is first used:
 * `statement((p: Slots<{ id: number }>) => q.selectFrom('labels').selectAll().where('id', '=', p.id))`.
 */
export function statement<Values extends object, Row>(
  build: (p: Slots<Values>) => Compilable<Row> | RawBuilder<Row>,
): Statement<Values, Row> {
  let made: Statement<Values, Row> | undefined
  const get = (): Statement<Values, Row> => (made ??= compile(build(slots<Values>())))
  return {
    get name() {
      return get().name
    },
    get text() {
      return get().text
    },
    bind: (values) => get().bind(values),
  }
}

/**
 * Declares a family of statements, one per shape: the filters and orders a list can have. A shape is plain,
 * its values are of few kinds (never what a caller typed), so the family stays small. To plan takes milliseconds: only
 * those are planned anew whose values decide which plan is bearable.
 */
export function statements<Shape extends object, Values extends object, Row>(
  build: (p: Slots<Values>, shape: Shape) => Compilable<Row> | RawBuilder<Row>,
  isPlannedAnew: (shape: Shape) => boolean = () => false,
): (shape: Shape) => Statement<Values, Row> {
  // The last given value comes last.
  const family = new Map<string, Statement<Values, Row>>()
  const make = (shape: Shape): Statement<Values, Row> => {
    const made = compile(build(slots<Values>(), shape))
    return isPlannedAnew(shape) ? { ...made, planned: 'anew' } : made
  }
  return (shape) => {
    const key = JSON.stringify(shape)
    const one = family.get(key) ?? make(shape)
    family.delete(key)
    family.set(key, one)
    const [first] = family.keys()
    if (family.size > KNOWN && first !== undefined) family.delete(first)
    return one
  }
}

/** So many statements of a family are known: who asks for every mixture of filters there is shall not fill the memory. */
const KNOWN = 500

const slots = <Values extends object>(): Slots<Values> =>
  new Proxy({} as Slots<Values>, { get: (_, name) => sql.val(new Slot(String(name))) })

function compile<Values extends object, Row>(
  query: Compilable<Row> | RawBuilder<Row>,
): Statement<Values, Row> {
  const { sql: text, parameters } = 'isRawBuilder' in query ? query.compile(q) : query.compile()
  const name = createHash('sha1').update(text).digest('base64url').slice(0, 16)
  const readers = parameters.map((parameter) =>
    parameter instanceof Slot ? (values: Record<string, unknown>) => values[parameter.name] : () => parameter,
  )
  return { name, text, bind: (values) => readers.map((read) => read(values as Record<string, unknown>)) }
}
