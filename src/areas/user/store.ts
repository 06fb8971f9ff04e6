import { sql } from 'kysely'
import type { Db } from '../../db/client.ts'
import type { User } from '../../db/schema.ts'
import { statement, type Slots } from '../../db/statement.ts'

/** A user with the namespace that carries the user's name. */
type UserWithNamespace = User & { readonly namespace_id: number | null }

const byId = statement(
  (p: Slots<{ id: number }>) => sql<UserWithNamespace>`
    select u.*, n.id as namespace_id from users u left join namespaces n on n.owner_id = u.id where u.id = ${p.id}`,
)

export const find = (db: Db, id: number): Promise<UserWithNamespace | undefined> => db.one(byId, { id })
