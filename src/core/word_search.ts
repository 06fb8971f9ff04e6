import { sql, type RawBuilder } from 'kysely'
import type { Db } from '../db/client.ts'
import { statement, type Slots } from '../db/statement.ts'
import { containing, wordSize } from '../db/text.ts'

type Raw = RawBuilder<unknown>

/** More than these are not carried about one by one. */
const MOST = 5_000
/** How many of the oldest and of the newest are asked whether the word is frequent. */
const SAMPLE = 150

/** Whether the user `u` is meant by a part of a name. */
export const namesUser = (pattern: Raw): Raw => sql`(u.name ilike ${pattern} or u.username ilike ${pattern})`

/**
 * Whether every fifth of the oldest and the newest rows is what is looked for: it is then met on a walk along any order;
 * what is rarer is fetched by an index.
 */
export const isFrequent = (table: string, row: string, where: Raw, among: Raw = sql`true`): Raw =>
  isFrequentAmong(
    sql`select * from ${sql.table(table)} r where ${among}`,
    sql`id`,
    (some) => sql`select from (${some}) ${sql.ref(row)} where ${where}`,
  )

/** The same of any rows, where `by` tells which are the oldest and `found` chooses what is looked for, of `size` each. */
export function isFrequentAmong(rows: Raw, by: Raw, found: (some: Raw) => Raw, size = SAMPLE): Raw {
  const some = (direction: Raw): Raw =>
    sql`(select * from (${rows}) r order by r.${by} ${direction} limit ${sql.lit(size)})`
  return sql`(select count(*) * 5 >= ${sql.lit(2 * size)}
                from (${found(sql`${some(sql`asc`)} union all ${some(sql`desc`)}`)}) found)`
}

const rare = statement(
  (p: Slots<{ pattern: string }>) => sql<{ ids: number[]; frequent: boolean }>`
    with frequent as materialized (
      select ${isFrequent('users', 'u', namesUser(p.pattern))} as it)
    select frequent.it as frequent, array(
             select u.id from users u where not frequent.it and ${namesUser(p.pattern)} limit ${sql.lit(MOST + 1)}) as ids
      from frequent`,
)

/**
 * The users that a part of a name means, as far as they are few; undefined when they are many, and a walk along any list
 * of users soon meets enough of them.
 */
export async function usersNamed(db: Db, word: string): Promise<number[] | undefined> {
  if (wordSize(word) !== 'long') return undefined
  const [row] = await db.rows(rare, { pattern: containing(word) })
  return row === undefined || row.frequent || row.ids.length > MOST ? undefined : row.ids
}
