import { sql } from 'kysely'
import type { Db } from '../../db/db.ts'
import type { UserStatus } from '../../db/schema/people.ts'
import { statement, type Slots } from '../../db/statement.ts'

const setStatement = statement(
  (p: Slots<{ id: number; status: string }>) =>
    sql`update users set status = ${p.status}::jsonb, updated_at = now() where id = ${p.id}`,
)
export const set = (db: Db, id: number, status: UserStatus): Promise<number> =>
  db.run(setStatement, { id, status: JSON.stringify(status) })
