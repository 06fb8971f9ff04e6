import { sql, type RawBuilder } from 'kysely'
import { COUNTED, paged, type Paged } from './statement.ts'

interface Finding<Row> {
  /** All that matches, in no order. */
  readonly all: RawBuilder<unknown>
  /** The rows of `found`, which has those of `all`, with what `order` reads of them. */
  readonly few: RawBuilder<unknown>
  /** The same of the first that match in the order, as far as the page reaches. */
  readonly walked: RawBuilder<unknown>
  /** Of the rows `i`. */
  readonly order: RawBuilder<unknown>
  readonly page: { readonly limit: RawBuilder<unknown>; readonly offset: RawBuilder<unknown> }
  /** What is shown of the rows whose ids are chosen. */
  readonly shown: (chosen: RawBuilder<unknown>) => RawBuilder<Row>
  /** What all of these read. */
  readonly before?: RawBuilder<unknown>
}

/**
 * One page and its total: those that match are put in order where they are few; where they are many, a walk in the order
 * meets the first of them soon. Which it is shows in the counting.
 */
export function foundFirst<Row>(finding: Finding<Row>): RawBuilder<Paged<Row>> {
  const { all, few, walked, order, page, shown, before } = finding
  const found = sql`
    ${before === undefined ? sql`` : sql`${before},`}
    found as materialized (${all} limit ${sql.lit(COUNTED + 1)}),
    many as materialized (select count(*) > ${sql.lit(COUNTED)} as are from found)`
  const chosen = sql`
    select i.id from (
      select * from (${few}) few where not (select are from many)
      union all
      select * from (${walked}) walked where (select are from many)) i
     order by ${order} limit ${page.limit} offset ${page.offset}`
  return paged(shown(chosen), sql`select from found`, found)
}
