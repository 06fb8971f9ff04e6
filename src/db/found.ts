import { sql, type RawBuilder } from 'kysely'
import { COUNTED, paged, type Paging } from './pages.ts'

/** How far along an index there is a look for those that match, and how many of them are read without one. */
const GLANCED = 10_000
const READ = 2_000

interface Finding<Row> {
  /** All that matches, in no order. */
  readonly all: RawBuilder<unknown>
  /** The rows of `found`, which has those of `all`, with what `order` reads of them. */
  readonly few: RawBuilder<unknown>
  /** The same of the first that match in the order, as far as the page reaches. */
  readonly walked: RawBuilder<unknown>
  /**
   * The same along an index of the order, of its first rows `i` with what `order` reads of them; where to read all that
   * match for their order would be long.
   */
  readonly glanced?: RawBuilder<unknown> | undefined
  /** Of the rows `i`. */
  readonly order: RawBuilder<unknown>
  readonly page: { readonly limit: RawBuilder<unknown>; readonly offset: RawBuilder<unknown> }
  /** What is shown of the rows whose ids are chosen. */
  readonly shown: (chosen: RawBuilder<unknown>) => RawBuilder<Row>
  /** What all of these read. */
  readonly before?: RawBuilder<unknown>
}

/** The first that match, where they are among the first of all: as `glanced`, which is the page where it is `whole`. */
const glance = (glanced: RawBuilder<unknown>, { order, page }: Finding<unknown>): RawBuilder<unknown> => {
  const reach = sql`${page.limit}::bigint + ${page.offset}::bigint`
  return sql`
    glanced as materialized (
      select i.* from (select i.* from (${glanced}) i order by ${order} limit ${sql.lit(GLANCED)}) i
       where i.id in (select id from found)
         and (select count(*) between ${sql.lit(READ)} and ${sql.lit(COUNTED)} from found)
       order by ${order} limit ${reach}),
    whole as materialized (select count(*) = ${reach} as "is" from glanced)`
}

/**
 * One page and its total: those that match are put in order where they are few; where they are many, a walk in the order
 * meets the first of them soon. Which it is shows in the counting.
 */
export function foundFirst<Row>(finding: Finding<Row>): Paging<Row> {
  const { all, few, walked, glanced, order, page, shown, before } = finding
  const found = sql`
    ${before === undefined ? sql`` : sql`${before},`}
    found as materialized (${all} limit ${sql.lit(COUNTED + 1)}),
    many as materialized (select count(*) > ${sql.lit(COUNTED)} as are from found)
    ${glanced === undefined ? sql`` : sql`, ${glance(glanced, finding)}`}`
  const [seen, unseen] =
    glanced === undefined
      ? [sql``, sql``]
      : [
          sql`select * from glanced where (select "is" from whole) union all`,
          sql`and not (select "is" from whole)`,
        ]
  const chosen = sql`
    select i.id from (
      ${seen}
      select * from (${few}) few where not (select are from many) ${unseen}
      union all
      select * from (${walked}) walked where (select are from many)) i
     order by ${order} limit ${page.limit} offset ${page.offset}`
  return paged(shown(chosen), sql`select from found`, found)
}
