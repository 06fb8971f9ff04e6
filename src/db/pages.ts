import { sql, type RawBuilder } from 'kysely'
import { statements, type Slots, type Statement } from './statement.ts'

/** Totals stop here, as published: past it a list says neither how many records nor how many pages there are. */
export const COUNTED = 10_000

/** What is counted; of `most` rows, where several parts that give so many each make up a list. */
export type Matches = RawBuilder<unknown> | ((most: number) => RawBuilder<unknown>)

/** A list, as parts of the statements that page it. */
export interface Paging<Row> {
  /** One page, ordered and cut by `limit` and `offset`. */
  readonly rows: RawBuilder<Row>
  /** The same list uncut and unordered, or no further than it is counted; none where nobody asks how many. */
  readonly matches: Matches | undefined
  /** What both of them read. */
  readonly before: RawBuilder<unknown> | undefined
  /** The same list where it is known to be long, if there is a better way then. */
  readonly long?: Paging<Row>
}

export const paged = <Row>(
  rows: RawBuilder<Row>,
  matches: Matches | undefined,
  before?: RawBuilder<unknown>,
): Paging<Row> => ({ rows, matches, before })

/** How far a list is counted beside its page: as published, a little farther, or not at all, where it is known to be long. */
export type Counting = 'as published' | 'farther' | 'not'
/** Where counting farther stops. */
export const FAR = 12_000
const LIMITS = { 'as published': COUNTED + 1, farther: FAR + 1 }

/** What a page statement yields: `total_count` on every row, and one row of nulls where the page is empty. */
export type Paged<Row> = Row & { readonly total_count: number | null; readonly position: number | null }

/** The statements of one list, each of which answers a page and its total in one round trip. */
export type PageStatement<Values extends object, Row> = (counting: Counting) => Statement<Values, Paged<Row>>

function count(matches: Matches, most: number): RawBuilder<unknown> {
  const rows = typeof matches === 'function' ? matches(most) : matches
  return sql`select count(*)::int as total_count from (${rows} limit ${sql.lit(most)}) m`
}

function pageOf<Row>(list: Paging<Row>, counting: Counting): RawBuilder<Paged<Row>> {
  const { rows, matches, before } = counting === 'as published' ? list : (list.long ?? list)
  const total =
    counting === 'not' || matches === undefined
      ? sql`select null::int as total_count`
      : count(matches, LIMITS[counting])
  return sql`
    with ${before === undefined ? sql`` : sql`${before},`}
         page as materialized (select r.*, row_number() over () as position from (${rows}) r),
         total as (${total})
    select page.*, total.total_count from total left join page on true order by page.position`
}

/** As `statements`, of lists that are paged. */
export function pageStatements<Shape extends object, Values extends object, Row>(
  build: (p: Slots<Values>, shape: Shape) => Paging<Row>,
  isPlannedAnew: (shape: Shape) => boolean = () => false,
): (shape: Shape) => PageStatement<Values, Row> {
  const family = statements<{ shape: Shape; counting: Counting }, Values, Paged<Row>>(
    (p, { shape, counting }) => pageOf(build(p, shape), counting),
    ({ shape }) => isPlannedAnew(shape),
  )
  return (shape) => (counting) => family({ shape, counting })
}

/** As `statement`, of a list that is paged. */
export const pageStatement = <Values extends object, Row>(
  build: (p: Slots<Values>) => Paging<Row>,
): PageStatement<Values, Row> => pageStatements<object, Values, Row>(build)({})

export interface Listed<Row> {
  readonly items: readonly Row[]
  /** Undefined past 10,000 records. */
  readonly total: number | undefined
}
