import { sql } from 'kysely'
import type { Db } from '../../db/db.ts'
import type { User } from '../../db/schema/tables.ts'
import { q, statement, type Slots } from '../../db/statement.ts'

/** Users that the service makes when it needs them: one of each type, without a namespace, role or token. */
const INTERNAL_USERS = {
  /** Author of what deleted users wrote. */
  ghost: { username: 'ghost', name: 'Ghost User' },
  /** Opens and closes the incidents of alerts. */
  alert_bot: { username: 'alert-bot', name: 'Alert Bot' },
} as const
export type InternalType = keyof typeof INTERNAL_USERS

export const isInternal = ({ user_type }: Pick<User, 'user_type'>): boolean =>
  Object.hasOwn(INTERNAL_USERS, user_type)

const find = statement((p: Slots<{ type: InternalType }>) =>
  q.selectFrom('users').selectAll().where('user_type', '=', p.type),
)
// A person may have the name: the next free one of name, name1, name2 … is taken.
const make = statement(
  (p: Slots<{ type: InternalType; username: string; name: string }>) => sql`
    insert into users (username, name, email, user_type, confirmed_at)
    select free.username, ${p.name}, free.username || '-' || gen_random_uuid() || '@noreply.invalid', ${p.type}, null
      from (select ${p.username} || coalesce(nullif(number, 0)::text, '') as username, number
              from generate_series(0, 1000) number) free
     where not exists (select from users u where lower(u.username) = free.username)
       and not exists (select from routes r where r.path = free.username)
     order by number limit 1
    on conflict do nothing`,
)

/** The internal user of a type. Call inside a transaction. */
export async function findInternal(db: Db, type: InternalType): Promise<User> {
  const known = await db.one(find, { type })
  if (known !== undefined) return known
  await db.run(make, { type, ...INTERNAL_USERS[type] })
  const made = await db.one(find, { type })
  if (made === undefined) throw new Error(`there is no ${type}`)
  return made
}
