import { sql } from 'kysely'
import type { Db } from '../../db/db.ts'
import { statement, type Slots } from '../../db/statement.ts'

const set = statement(
  (p: Slots<{ at: string }>) =>
    sql`select set_config('guildhall.deed_time', ${p.at}::timestamptz::text, true)`,
)

/**
 * Dates what the rest of the transaction writes down of its deed, system notes and events: records that move here from
 * another server keep their history. Call inside a transaction; without a moment nothing changes.
 */
export async function dateDeed(db: Db, at: string | undefined): Promise<void> {
  if (at !== undefined) await db.run(set, { at })
}
