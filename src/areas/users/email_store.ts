import { sql } from 'kysely'
import type { Db } from '../../db/db.ts'
import { violates } from '../../db/errors.ts'
import type { UserEmail } from '../../db/schema/tables.ts'
import { paged, pageStatement, type Listed } from '../../db/pages.ts'
import { q, statement, type Slots } from '../../db/statement.ts'

export type Email = UserEmail

const listStatement = pageStatement((p: Slots<{ user_id: number; limit: number; offset: number }>) => {
  const rows = sql`user_emails e where e.user_id = ${p.user_id} and not e.is_primary`
  return paged(
    sql<Email>`select e.* from ${rows} order by e.id limit ${p.limit} offset ${p.offset}`,
    sql`select from ${rows}`,
  )
})
const byId = statement((p: Slots<{ user_id: number; id: number }>) =>
  q
    .selectFrom('user_emails')
    .selectAll()
    .where('user_id', '=', p.user_id)
    .where('id', '=', p.id)
    .where('is_primary', '=', false),
)
const insertStatement = statement(
  (p: Slots<{ user_id: number; email: string; confirmed: boolean }>) => sql<Email>`
    insert into user_emails (user_id, email, confirmed_at)
    values (${p.user_id}, ${p.email}, case when ${p.confirmed}::boolean then now() end)
    returning *`,
)
const removeStatement = statement((p: Slots<{ user_id: number; id: number }>) =>
  q
    .deleteFrom('user_emails')
    .where('user_id', '=', p.user_id)
    .where('id', '=', p.id)
    .where('is_primary', '=', false),
)

export const list = (
  db: Db,
  page: { user_id: number; limit: number; offset: number },
): Promise<Listed<Email>> => db.page(listStatement, page)

export const find = (db: Db, userId: number, id: number): Promise<Email | undefined> =>
  db.one(byId, { user_id: userId, id })

export async function insert(
  db: Db,
  email: { user_id: number; email: string; confirmed: boolean },
): Promise<Email> {
  return db.insert(insertStatement, email)
}

/** Whether an address was refused because it is the user's already, or known to be another's. */
export const isTaken = (error: unknown): boolean =>
  violates(error, 'user_emails_email_key') || violates(error, 'user_emails_own')

export const remove = (db: Db, userId: number, id: number): Promise<number> =>
  db.run(removeStatement, { user_id: userId, id })
