import { sql, type RawBuilder } from 'kysely'

// How a page of a long list is read: along indexes in the order of the list, and no further than the page reaches.

type Raw = RawBuilder<unknown>

/** A table that is listed, and what its rows are called in a statement. */
export interface Rows {
  readonly table: 'projects' | 'namespaces'
  readonly row: 'p' | 'n'
}
/** Where to read, as an index knows it, and what is asked of each row there. */
export interface Wanted {
  readonly at: readonly Raw[]
  readonly asked: readonly Raw[]
}
/** What is taken of each row (its id, and what the order asks for), and how many rows from each side. */
export interface Cut {
  readonly columns: Raw
  readonly order: Raw
  readonly reach: number
}

export const and = (conditions: readonly Raw[]): Raw => sql.join([sql`true`, ...conditions], sql` and `)
export const union = (parts: readonly Raw[]): Raw =>
  sql.join(
    parts.map((part) => sql`(${part})`),
    sql` union all `,
  )

const all = ({ table, row }: Rows): Raw =>
  sql`select ${sql.ref(row)}.* from ${sql.table(table)} ${sql.ref(row)}`

/**
 * Rows in an order, as far as the page reaches. Fenced: what else is asked of them is looked at row by row, for the planner
 * takes it for rarer than it is, and would fetch and sort everything.
 */
export const walk = (of: Rows, { at, asked }: Wanted, { columns, order, reach }: Cut): Raw => sql`
  select ${columns} from (${all(of)} where ${and(at)} order by ${order} offset 0) ${sql.ref(of.row)}
   where ${and(asked)} limit ${sql.lit(reach)}`

/** A few rows, fetched and sorted. */
export const sorted = (of: Rows, { at, asked }: Wanted, { columns, order, reach }: Cut): Raw => sql`
  select ${columns} from (${all(of)} where ${and(at)} offset 0) ${sql.ref(of.row)}
   where ${and(asked)} order by ${order} limit ${sql.lit(reach)}`

/** The ids of the page that is cut out of all sides. */
export const chosen = (
  { row }: Rows,
  sides: readonly Raw[],
  order: Raw,
  p: { readonly limit: Raw; readonly offset: Raw },
): Raw =>
  sql`select ${sql.ref(row)}.id from (${union(sides)}) ${sql.ref(row)} order by ${order} limit ${p.limit} offset ${p.offset}`

/** Whole rows of what was chosen. */
export const whole = ({ table, row }: Rows, ids: Raw, order: Raw): Raw =>
  sql`select ${sql.ref(row)}.* from ${sql.table(table)} ${sql.ref(row)} where ${sql.ref(row)}.id = any(array(${ids})) order by ${order}`

/** A list, in parts, for whoever shows it. */
export interface Parts {
  /** What the others read, and what is read to show what is chosen. */
  readonly before: Raw | undefined
  readonly beside?: Raw | undefined
  /** The ids of the page, and of all there are, as far as they are counted. */
  readonly page: Raw
  readonly all: Raw
  /** Whole rows of some of them. */
  readonly rows: (ids: Raw) => Raw
  readonly order: Raw
  /** What is to be counted. */
  readonly matches: (most: number) => Raw
}

const nameOf = (row: string): Raw => sql`lower(${sql.ref(`${row}.name`)}) collate "C"`
const pathOf = (row: string): Raw => sql`lower(${sql.ref(`${row}.path`)}) collate "C"`
const isCalled = (row: string, low: Raw): Raw => sql`(${pathOf(row)} = ${low} or ${nameOf(row)} = ${low})`
export const called = (row: string, word: Raw): Raw => isCalled(row, sql`lower(${word})`)

/** A walk along an index: no letter comes after the last one. */
const begins = (column: Raw, low: Raw): Raw =>
  sql`(${column} >= ${low} and ${column} < ${low} || chr(1114111))`

/** `ranks`: of equally similar rows the first of these stand before the second, and so on; each has indexes of its own. */
export interface Likeness extends Rows {
  readonly word: Raw
  readonly ranks: readonly Raw[]
}

/** What is called so, what begins so, whose path begins so, and the rest, each by name. */
export function bySimilarity({ row, word, ranks }: Likeness): Raw {
  // Asked of each row, and made small once.
  const low = sql`(select lower(${word}))`
  const [name, path, is] = [nameOf(row), pathOf(row), isCalled(row, low)]
  const ranked = ranks.slice(0, -1).map((rank) => sql`(${rank}) desc,`)
  return sql`
    case when ${is} then 0 when ${begins(name, low)} then 1 when ${begins(path, low)} then 2 else 3 end,
    ${ranked.length === 0 ? sql`` : sql.join(ranked, sql` `)}
    (case when not ${is} and not ${begins(name, low)} and ${begins(path, low)} then ${path} else ${name} end),
    ${sql.ref(row)}.id`
}

/** Each kind of likeness in its own order, and only where those before it did not fill the page. */
export function walkSimilar(of: Likeness, asked: readonly Raw[], { columns, reach }: Cut): Raw {
  const { table, row, word, ranks } = of
  const low = sql`lower(${word})`
  const [name, path, is] = [nameOf(row), pathOf(row), isCalled(row, low)]
  const r = sql.ref(row)
  const along = (column: Raw, range: Raw, others: readonly Raw[], room: Raw): Raw =>
    union(
      ranks.map(
        (rank) => sql`
          select ${columns} from (${all(of)} where ${rank} and ${range} order by ${column}, ${r}.id offset 0) ${r}
           where ${and([...others, room, ...asked])} limit ${sql.lit(reach)}`,
      ),
    )
  const room = (before: string): Raw => sql`(select count(*) from ${sql.ref(before)}) < ${sql.lit(reach)}`
  const callings = ranks.flatMap((rank) =>
    [name, path].map(
      (column) => sql`select ${r}.id from ${sql.table(table)} ${r} where ${rank} and ${column} = ${low}`,
    ),
  )
  const unnamed = sql`not ${is} and not ${begins(name, low)}`
  return sql`select ${r}.* from (
    with called as materialized (
      ${all(of)} where ${r}.id = any(array(${sql.join(callings, sql` union `)})) and ${and(asked)}),
    named as materialized (
      select ${columns} from called ${r} union all (${along(name, begins(name, low), [sql`not ${is}`], room('called'))})),
    placed as materialized (
      select * from named union all (${along(path, begins(path, low), [unnamed], room('named'))}))
    select * from placed union all (
      ${along(name, sql`true`, [unnamed, sql`not ${begins(path, low)}`], room('placed'))})) ${r}`
}
