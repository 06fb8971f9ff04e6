import { sql } from 'kysely'
import type { Db } from '../../db/client.ts'
import { statement, type Slots } from '../../db/statement.ts'
import { authorJson, type Author } from '../../records/user.ts'

interface Approval {
  readonly user: Author
  readonly approved_at: Date
}

const list = statement(
  (p: Slots<{ id: number }>) => sql<Approval>`
    select ${authorJson(sql`a.user_id`)} as user, a.created_at as approved_at
      from merge_request_approvals a where a.merge_request_id = ${p.id} order by a.created_at, a.user_id`,
)
export const approvalsOf = (db: Db, id: number): Promise<Approval[]> => db.rows(list, { id })

const insert = statement(
  (p: Slots<{ id: number; user_id: number }>) => sql`
    insert into merge_request_approvals (merge_request_id, user_id) values (${p.id}, ${p.user_id})
    on conflict do nothing`,
)
/** Says whether it was not approved by the user before. */
export const approve = async (db: Db, id: number, userId: number): Promise<boolean> =>
  (await db.run(insert, { id, user_id: userId })) > 0

const remove = statement(
  (p: Slots<{ id: number; user_id: number }>) => sql`
    delete from merge_request_approvals where merge_request_id = ${p.id} and user_id = ${p.user_id}`,
)
/** Says whether it was approved by the user. */
export const unapprove = async (db: Db, id: number, userId: number): Promise<boolean> =>
  (await db.run(remove, { id, user_id: userId })) > 0
