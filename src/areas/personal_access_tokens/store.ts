import { sql, type RawBuilder } from 'kysely'
import type { Db } from '../../db/client.ts'
import type { PersonalAccessToken } from '../../db/schema.ts'
import {
  listed,
  paged,
  statement,
  statements,
  type Listed,
  type Paged,
  type Slots,
} from '../../db/statement.ts'
import { containing } from '../../db/text.ts'

/** A token without its digest, and whether it would do today. */
export type Token = Omit<PersonalAccessToken, 'digest'> & { readonly active: boolean }

const ACTIVE = sql`(not t.revoked and (t.expires_at is null or t.expires_at > today()))`
const TOKEN = sql`
  t.id, t.user_id, t.name, t.scopes, t.impersonation, t.revoked, t.expires_at, t.last_used_at,
  t.previous_personal_access_token_id, t.created_at, t.updated_at, ${ACTIVE} as active`

export interface ListShape {
  readonly user: boolean
  readonly state: 'active' | 'inactive' | 'any'
  readonly revoked: boolean
  readonly search: boolean
}
export interface ListFilters {
  readonly user_id: number
  readonly revoked: boolean
  readonly search: string
  readonly limit: number
  readonly offset: number
}

const listStatement = statements<ListShape, ListFilters, Paged<Token>>((p, shape) => {
  const conditions: RawBuilder<unknown>[] = [
    sql`not t.impersonation`,
    ...(shape.user ? [sql`t.user_id = ${p.user_id}`] : []),
    ...(shape.state === 'any' ? [] : [shape.state === 'active' ? ACTIVE : sql`not ${ACTIVE}`]),
    ...(shape.revoked ? [sql`t.revoked = ${p.revoked}`] : []),
    ...(shape.search ? [sql`t.name ilike ${p.search}`] : []),
  ]
  const rows = sql`personal_access_tokens t where ${sql.join(conditions, sql` and `)}`
  return paged(
    sql<Token>`select ${TOKEN} from ${rows} order by t.id limit ${p.limit} offset ${p.offset}`,
    sql`select from ${rows}`,
  )
})

export const list = async (db: Db, shape: ListShape, filters: ListFilters): Promise<Listed<Token>> =>
  listed(await db.rows(listStatement(shape), { ...filters, search: containing(filters.search) }))

const byId = statement(
  (p: Slots<{ id: number }>) =>
    sql<Token>`select ${TOKEN} from personal_access_tokens t where t.id = ${p.id}`,
)
const revokeStatement = statement(
  (p: Slots<{ id: number }>) => sql`
    update personal_access_tokens set revoked = true, updated_at = now() where id = ${p.id} and not revoked`,
)

export const find = (db: Db, id: number): Promise<Token | undefined> => db.one(byId, { id })

/** Returns how many it was: 0 for one that is revoked already. */
export const revoke = (db: Db, id: number): Promise<number> => db.run(revokeStatement, { id })
