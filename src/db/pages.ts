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

/** A list of which a page is ids, and then what is shown of them. */
export interface Ordering<Row> {
  /** The ids, ordered and cut by `limit` and `offset`. */
  readonly chosen: RawBuilder<unknown>
  readonly shown: (chosen: RawBuilder<unknown>) => RawBuilder<Row>
  /** What is read to show them. */
  readonly beside?: RawBuilder<unknown> | undefined
}
export interface OrderedPaging<Row> extends Paging<Row> {
  readonly ordering: Ordering<Row>
}

export const paged = <Row>(
  rows: RawBuilder<Row>,
  matches: Matches | undefined,
  before?: RawBuilder<unknown>,
): Paging<Row> => ({ rows, matches, before })

/** As `paged`, of a list that can be put in order as a whole. */
export const ordered = <Row>(
  ordering: Ordering<Row>,
  matches: Matches,
  before?: RawBuilder<unknown>,
): OrderedPaging<Row> => ({ ...paged(ordering.shown(ordering.chosen), matches, before), ordering })

/**
 * How far a list is counted beside its page: as published, a little farther, or not at all, where it is known to be long
 * ('not') or nothing changed since it was counted ('again').
 */
export type Counting = 'as published' | 'farther' | 'not' | 'again'
/** Where counting farther stops. */
export const FAR = 12_000
const LIMITS: Record<'as published' | 'farther', number> = { 'as published': COUNTED + 1, farther: FAR + 1 }

/**
 * What a page statement yields: `total_count` on every row, and one row of nulls where the page is empty. While `seen` is
 * the same, all that a statement can see is.
 */
export type Paged<Row> = Row & {
  readonly total_count: number | null
  /** Milliseconds until it was counted, without the planning. */
  readonly took: number
  readonly seen: string
  readonly position: number | null
}

/** The statements of one list, each of which answers a page and its total in one round trip. */
export interface PageStatement<Values extends object, Row> {
  (counting: Counting): Statement<Values, Paged<Row>>
  readonly inOrder?: InOrder<Values, Row>
}
/** The ids of all that a list has, as far as `limit`, and the page of some of them. */
export interface InOrder<Values extends object, Row> {
  readonly all: () => Statement<Values, Ids>
  readonly some: () => Statement<Values & Pick<Ids, 'ids'>, Paged<Row>>
}
export interface Ids {
  readonly ids: readonly number[]
  readonly seen: string
}

/**
 * Which transactions a statement sees, and the day, on which memberships end. After a crash of the database the numbers of
 * what was lost are given out again: its statistics begin anew then, and it says when that was.
 */
const SEEN = sql`
  concat_ws(' ', pg_current_snapshot(), today(), pg_stat_get_bgwriter_stat_reset_time()) as seen`

function count(matches: Matches, most: number): RawBuilder<unknown> {
  const rows = typeof matches === 'function' ? matches(most) : matches
  return sql`select count(*)::int as total_count from (${rows} limit ${sql.lit(most)}) m`
}

const UNCOUNTED = sql`select null::int as total_count`

const withTotal = <Row>(
  rows: RawBuilder<Row>,
  total: RawBuilder<unknown>,
  before?: RawBuilder<unknown>,
): RawBuilder<Paged<Row>> => sql`
  with ${before === undefined ? sql`` : sql`${before},`}
       page as materialized (select r.*, row_number() over () as position from (${rows}) r),
       total as materialized (
         select t.total_count, ${SEEN},
                (extract(epoch from clock_timestamp() - statement_timestamp()) * 1000)::float as took from (${total}) t)
  select page.*, total.* from total left join page on true order by page.position`

function pageOf<Row>(list: Paging<Row>, counting: Counting): RawBuilder<Paged<Row>> {
  const isLong = counting === 'farther' || counting === 'not'
  const { rows, matches, before } = isLong ? (list.long ?? list) : list
  const isCounted = counting === 'as published' || counting === 'farther'
  return withTotal(
    rows,
    isCounted && matches !== undefined ? count(matches, LIMITS[counting]) : UNCOUNTED,
    before,
  )
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

/** As `pageStatements`, of lists that can be put in order as a whole. */
export function orderedStatements<Shape extends object, Values extends object, Row>(
  build: (p: Slots<Values>, shape: Shape) => OrderedPaging<Row>,
  isPlannedAnew: (shape: Shape) => boolean = () => false,
): (shape: Shape) => PageStatement<Values, Row> {
  const pages = pageStatements(build, isPlannedAnew)
  const all = statements<Shape, Values, Ids>((p, shape) => {
    const { before, ordering } = build(p, shape)
    return sql`${before === undefined ? sql`` : sql`with ${before}`} select array(${ordering.chosen}) as ids, ${SEEN}`
  }, isPlannedAnew)
  const some = statements<Shape, Values & Pick<Ids, 'ids'>, Paged<Row>>((p, shape) => {
    const { shown, beside } = build(p, shape).ordering
    return withTotal(shown(sql`select unnest(${p.ids}::bigint[]) as id`), UNCOUNTED, beside)
  })
  return (shape) => {
    const inOrder = { all: () => all(shape), some: () => some(shape) }
    return Object.assign((counting: Counting) => pages(shape)(counting), { inOrder })
  }
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
