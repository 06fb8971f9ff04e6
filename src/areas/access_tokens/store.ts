import { sql } from 'kysely'
import type { Db } from '../../db/db.ts'
import { statement, type Slots } from '../../db/statement.ts'

// A bot that was put out has no level; what it had is shown.
const levelsStatement = statement(
  (p: Slots<{ ids: readonly number[] }>) => sql<{ user_id: number; access_level: number }>`
    select b.user_id, coalesce(m.access_level, b.access_level)::int as access_level
      from resource_bots b
      left join members m on m.user_id = b.user_id
        and (m.namespace_id = b.namespace_id or m.project_id = b.project_id)
     where b.user_id = any(${p.ids}::bigint[])`,
)
export const levels = async (db: Db, ids: readonly number[]): Promise<ReadonlyMap<number, number>> =>
  new Map((await db.rows(levelsStatement, { ids })).map((row) => [row.user_id, row.access_level]))

const removeStatement = statement(
  (p: Slots<{ user_id: number }>) => sql`delete from members where user_id = ${p.user_id}`,
)
/** Takes a bot's role away. */
export const remove = (db: Db, userId: number): Promise<number> =>
  db.run(removeStatement, { user_id: userId })
