import { sql } from 'kysely'
import type { Db } from '../../db/db.ts'
import { q, statement, type Slots } from '../../db/statement.ts'

const subscribeTo = statement(
  (p: Slots<{ label_id: number; user_id: number }>) => sql`
    insert into label_subscriptions (label_id, user_id) values (${p.label_id}, ${p.user_id}) on conflict do nothing`,
)
const unsubscribeFrom = statement((p: Slots<{ label_id: number; user_id: number }>) =>
  q.deleteFrom('label_subscriptions').where('label_id', '=', p.label_id).where('user_id', '=', p.user_id),
)

/** Whether this changed anything. */
export const subscribe = async (db: Db, labelId: number, userId: number): Promise<boolean> =>
  (await db.run(subscribeTo, { label_id: labelId, user_id: userId })) > 0

/** Whether this changed anything. */
export const unsubscribe = async (db: Db, labelId: number, userId: number): Promise<boolean> =>
  (await db.run(unsubscribeFrom, { label_id: labelId, user_id: userId })) > 0
