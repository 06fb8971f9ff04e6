import { sql, type RawBuilder } from 'kysely'
import { statements, type Slots, type Statement } from './statement.ts'

/** Totals stop here, as published: a longer list tells neither its number of records nor its number of pages. */
export const COUNTED = 10_000

/** Parameters of a page's statement. */
export interface Page {
  readonly limit: number
  readonly offset: number
}

/** A list, as parts of the statement that pages it. */
export interface Paging<Row> {
  /** One page, ordered and cut by `limit` and `offset`. */
  readonly rows: RawBuilder<Row>
  /** The same list uncut and unordered; undefined where no total is asked for. */
  readonly matches: RawBuilder<unknown> | undefined
  /** Common table expressions that both read. */
  readonly before: RawBuilder<unknown> | undefined
}

export const paged = <Row>(
  rows: RawBuilder<Row>,
  matches: RawBuilder<unknown> | undefined,
  before?: RawBuilder<unknown>,
): Paging<Row> => ({ rows, matches, before })

/** The rows of a page statement: `total_count` on each, and one row of nulls for an empty page. */
export type Paged<Row> = Row & { readonly total_count: number | null; readonly position: number | null }

/** Answers one page and its total in one round trip. */
export type PageStatement<Values extends object, Row> = Statement<Values, Paged<Row>>

function total(matches: RawBuilder<unknown> | undefined): RawBuilder<unknown> {
  if (matches === undefined) return sql`select null::int as total_count`
  return sql`select count(*)::int as total_count from (${matches} limit ${sql.lit(COUNTED + 1)}) m`
}

const withTotal = <Row>({ rows, matches, before }: Paging<Row>): RawBuilder<Paged<Row>> => sql`
  with ${before === undefined ? sql`` : sql`${before},`}
       page as materialized (select r.*, row_number() over () as position from (${rows}) r),
       total as materialized (${total(matches)})
  select page.*, total.* from total left join page on true order by page.position`

/** As `statements`, for lists that are paged. */
export function pageStatements<Shape extends object, Values extends object, Row>(
  build: (p: Slots<Values>, shape: Shape) => Paging<Row>,
  isPlannedAnew: (shape: Shape) => boolean = () => false,
): (shape: Shape) => PageStatement<Values, Row> {
  return statements<Shape, Values, Paged<Row>>((p, shape) => withTotal(build(p, shape)), isPlannedAnew)
}

/** As `statement`, for a list that is paged. */
export const pageStatement = <Values extends object, Row>(
  build: (p: Slots<Values>) => Paging<Row>,
): PageStatement<Values, Row> => pageStatements<object, Values, Row>(build)({})

export interface Listed<Row> {
  readonly items: readonly Row[]
  /** Undefined past 10,000 records. */
  readonly total: number | undefined
}

/** Splits the rows of a page statement into items and total. */
export function listed<Row>(rows: readonly Paged<Row>[]): Listed<Row> {
  const count = rows[0]?.total_count ?? undefined
  return {
    items: rows.filter((row) => row.position !== null),
    total: count === undefined || count > COUNTED ? undefined : count,
  }
}
