import { sql } from 'kysely'
import type { Db } from '../../db/db.ts'
import { recordEvents } from '../../outbox/record.ts'
import type { User } from '../../db/schema/tables.ts'
import { q, statement, type Slots, type Sql } from '../../db/statement.ts'

/** Whether the name or the user name of the user `u` is like the pattern. */
export const namesUser = (pattern: Sql): Sql => sql`(u.name ilike ${pattern} or u.username ilike ${pattern})`

export interface NewUser {
  readonly username: string
  readonly name: string
  readonly email: string
  readonly admin: boolean
  readonly external?: boolean
  /** Confirms an address of a user: invitations to it become the user's. */
  readonly confirmed?: boolean
  readonly created_by_id?: number | null
}

const insertUser = statement((p: Slots<NewUser & { user_type: User['user_type'] }>) =>
  q
    .insertInto('users')
    .values({
      username: p.username,
      name: p.name,
      email: p.email,
      admin: p.admin,
      external: p.external,
      user_type: p.user_type,
      confirmed_at: sql`case when ${p.confirmed}::boolean then now() end`,
      created_by_id: p.created_by_id,
    })
    .returningAll(),
)
const insertPersonalNamespace = statement(
  (p: Slots<{ id: number; name: string; path: string }>) => sql`
    insert into namespaces (id, kind, owner_id, name, path, full_name, full_path, traversal_ids, visibility)
    overriding system value
    select id, 'user', ${p.id}, ${p.name}, ${p.path}, ${p.name}, ${p.path}, array[id], 'public'
      from (select nextval(pg_get_serial_sequence('namespaces', 'id')) as id) fresh`,
)
const byId = statement((p: Slots<{ id: number }>) => q.selectFrom('users').selectAll().where('id', '=', p.id))
const byUsername = statement((p: Slots<{ username: string }>) =>
  q
    .selectFrom('users')
    .selectAll()
    .where(sql`lower(username)`, '=', sql`lower(${p.username})`),
)

async function insert(db: Db, user: NewUser, user_type: User['user_type']): Promise<User> {
  const { external = false, confirmed = true, created_by_id = null } = user
  return db.insert(insertUser, { ...user, external, confirmed, created_by_id, user_type })
}

/** Inserts a user and the namespace that carries the user's name. Call inside a transaction. */
export async function create(db: Db, user: NewUser): Promise<User> {
  const row = await insert(db, user, 'human')
  await db.run(insertPersonalNamespace, { id: row.id, name: row.name, path: row.username })
  await recordUser(db, 'user_create', row, user.created_by_id ?? null)
  return row
}

/** Records that a user was made or deleted. `by` is who did it. */
export async function recordUser(
  db: Db,
  action: 'user_create' | 'user_destroy',
  { id, name, username, email, created_at, updated_at }: User,
  by: number | null,
): Promise<void> {
  const data = { name, username, email, created_at, updated_at }
  await recordEvents(db, [{ kind: 'user', action, author_id: by, target_type: 'user', target_id: id, data }])
}

/** Inserts a user behind whom nobody stands: without a namespace, and with an address that receives nothing. */
export const createBot = (db: Db, bot: Pick<NewUser, 'username' | 'name' | 'created_by_id'>): Promise<User> =>
  insert(
    db,
    { ...bot, email: `${bot.username}@noreply.invalid`, admin: false, confirmed: false },
    'project_bot',
  )

export const find = (db: Db, id: number): Promise<User | undefined> => db.one(byId, { id })

export const findByUsername = (db: Db, username: string): Promise<User | undefined> =>
  db.one(byUsername, { username })

const CONSTRAINTS: Readonly<Record<string, 'Email' | 'Username'>> = {
  users_email_key: 'Email',
  user_emails_email_key: 'Email',
  users_username_key: 'Username',
  routes_pkey: 'Username',
  namespaces_full_path_key: 'Username',
}

/** Which of a user's names another one bears already, by the constraint that `error` tells of. */
export function takenName(error: unknown): 'Email' | 'Username' | undefined {
  const constraint = error instanceof Error && 'constraint' in error ? String(error.constraint) : ''
  return CONSTRAINTS[constraint]
}
