import { sql } from 'kysely'
import type { Db } from '../db/client.ts'
import type { User } from '../db/schema.ts'
import { q, statement, type Slots } from '../db/statement.ts'

export interface NewUser {
  readonly username: string
  readonly name: string
  readonly email: string
  readonly admin: boolean
}

const insertUser = statement((p: Slots<NewUser>) =>
  q
    .insertInto('users')
    .values({ username: p.username, name: p.name, email: p.email, admin: p.admin })
    .returningAll(),
)
const insertPersonalNamespace = statement(
  (p: Slots<{ id: number; name: string; path: string }>) => sql`
    insert into namespaces (id, kind, owner_id, name, path, full_name, full_path, traversal_ids, visibility)
    overriding system value
    select id, 'user', ${p.id}, ${p.name}, ${p.path}, ${p.name}, ${p.path}, array[id], 'public'
      from (select nextval(pg_get_serial_sequence('namespaces', 'id')) as id) fresh`,
)
const byUsername = statement((p: Slots<{ username: string }>) =>
  q
    .selectFrom('users')
    .selectAll()
    .where(sql`lower(username)`, '=', sql`lower(${p.username})`),
)

/** Inserts a user and the namespace that carries the user's name. Call inside a transaction. */
export async function create(db: Db, user: NewUser): Promise<User> {
  const row = await db.one(insertUser, user)
  if (row === undefined) throw new Error('a user was not inserted')
  await db.run(insertPersonalNamespace, { id: row.id, name: row.name, path: row.username })
  return row
}

export const findByUsername = (db: Db, username: string): Promise<User | undefined> =>
  db.one(byUsername, { username })
