import { sql, type RawBuilder } from 'kysely'
import type { Db } from '../../db/db.ts'
import type { PersonalAccessToken } from '../../db/schema/tables.ts'
import { paged, pageStatements, type Listed } from '../../db/pages.ts'
import { statement, statements, type Slots } from '../../db/statement.ts'
import { containing } from '../../db/text.ts'
import { lasts } from '../values/expiry.ts'

/** A token without its digest, and whether it would do today. */
export type Token = Omit<PersonalAccessToken, 'digest'> & { readonly active: boolean }

const ACTIVE = sql`(not t.revoked and ${lasts('t')})`
const TOKEN = sql`
  t.id, t.user_id, t.name, t.description, t.scopes, t.impersonation, t.revoked, t.expires_at, t.last_used_at,
  t.previous_personal_access_token_id, t.created_at, t.updated_at, ${ACTIVE} as active`

export interface ListShape {
  /** Which tokens: a user's own, those that administrators made to act as the user, those of bots of a group or project. */
  readonly kind: 'personal' | 'impersonation' | 'group' | 'project'
  /** Of one user, group or project. */
  readonly one: boolean
  readonly state: 'active' | 'inactive' | 'any'
  readonly revoked: boolean
  readonly search: boolean
}
export interface ListFilters {
  readonly owner_id: number
  readonly revoked: boolean
  readonly search: string
  readonly limit: number
  readonly offset: number
}

const ofOwner = (kind: ListShape['kind'], id: RawBuilder<number>): RawBuilder<unknown> =>
  ({
    personal: sql`t.user_id = ${id}`,
    impersonation: sql`t.user_id = ${id}`,
    group: sql`t.user_id in (select user_id from resource_bots where namespace_id = ${id})`,
    project: sql`t.user_id in (select user_id from resource_bots where project_id = ${id})`,
  })[kind]

const listStatement = pageStatements<ListShape, ListFilters, Token>((p, shape) => {
  const conditions: RawBuilder<unknown>[] = [
    shape.kind === 'impersonation' ? sql`t.impersonation` : sql`not t.impersonation`,
    ...(shape.one ? [ofOwner(shape.kind, p.owner_id)] : []),
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

export const list = (db: Db, shape: ListShape, filters: ListFilters): Promise<Listed<Token>> =>
  db.page(listStatement(shape), { ...filters, search: containing(filters.search) })

const byOwner = statements<Pick<ListShape, 'kind'>, { id: number; owner_id: number }, Token>(
  (p, { kind }) => sql<Token>`
    select ${TOKEN} from personal_access_tokens t
     where t.id = ${p.id} and ${ofOwner(kind, p.owner_id)}
       and ${kind === 'impersonation' ? sql`t.impersonation` : sql`not t.impersonation`}`,
)
const byId = statement(
  (p: Slots<{ id: number }>) =>
    sql<Token>`select ${TOKEN} from personal_access_tokens t where t.id = ${p.id}`,
)
const revokeStatement = statement(
  (p: Slots<{ id: number }>) => sql`
    update personal_access_tokens set revoked = true, updated_at = now() where id = ${p.id} and not revoked`,
)

const byDigest = statement(
  (p: Slots<{ digest: Buffer }>) =>
    sql<Token>`select ${TOKEN} from personal_access_tokens t where t.digest = ${p.digest}`,
)
/** A token by its digest, whether it is still good or not. */
export const findByDigest = (db: Db, digest: Buffer): Promise<Token | undefined> =>
  db.one(byDigest, { digest })

export const find = (db: Db, id: number): Promise<Token | undefined> => db.one(byId, { id })

/** Returns how many it was: 0 for one that is revoked already. */
export const revoke = (db: Db, id: number): Promise<number> => db.run(revokeStatement, { id })

/** A token of that kind that belongs to the user, group or project. */
export const findOf = (
  db: Db,
  kind: ListShape['kind'],
  ownerId: number,
  id: number,
): Promise<Token | undefined> => db.one(byOwner({ kind }), { id, owner_id: ownerId })
