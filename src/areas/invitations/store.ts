import { sql, type RawBuilder } from 'kysely'
import { lasts } from '../../core/values/expiry.ts'
import type { Source } from '../../core/people/membership.ts'
import type { Db } from '../../db/db.ts'
import type { Invitation as InvitationRow } from '../../db/schema/tables.ts'
import { paged, pageStatements, type Listed } from '../../db/pages.ts'
import { statement, statements, type Slots } from '../../db/statement.ts'

export type Invitation = InvitationRow & { readonly created_by_name: string | null }
type Kind = Pick<Source, 'kind'>

const column = ({ kind }: Kind): RawBuilder<unknown> =>
  sql.ref(kind === 'group' ? 'namespace_id' : 'project_id')
const standing = lasts('i')
const shown = (rows: RawBuilder<unknown>): RawBuilder<Invitation> => sql`
  select i.*, u.name as created_by_name from (${rows}) i left join users u on u.id = i.created_by_id order by i.id`

interface ListValues {
  readonly source_id: number
  readonly email: string
  readonly limit: number
  readonly offset: number
}
const listStatement = pageStatements<Kind & { email: boolean }, ListValues, Invitation>((p, shape) => {
  const only = shape.email ? sql`and lower(i.email) = lower(${p.email})` : sql``
  const rows = sql`invitations i where i.${column(shape)} = ${p.source_id} and ${standing} ${only}`
  return paged(
    shown(sql`select i.* from ${rows} order by i.id limit ${p.limit} offset ${p.offset}`),
    sql`select from ${rows}`,
  )
})
const one = statements<Kind, Pick<ListValues, 'source_id' | 'email'>, Invitation>((p, kind) =>
  shown(sql`
    select i.* from invitations i
     where i.${column(kind)} = ${p.source_id} and lower(i.email) = lower(${p.email}) and ${standing}`),
)

export const list = (
  db: Db,
  { kind, id }: Source,
  { email, limit, offset }: { readonly email: string; readonly limit: number; readonly offset: number },
): Promise<Listed<Invitation>> =>
  db.page(listStatement({ kind, email: email !== '' }), {
    source_id: id,
    email,
    limit,
    offset,
  })

export const find = (db: Db, { kind, id }: Source, email: string): Promise<Invitation | undefined> =>
  db.one(one({ kind }), { source_id: id, email })

const lock = statement(
  (p: Slots<{ emails: readonly string[] }>) => sql`
    select pg_advisory_xact_lock(7163021, k)
      from (select distinct address_lock(e) as k from unnest(${p.emails}::text[]) e order by 1) locks`,
)
const owners = statement(
  (p: Slots<{ emails: readonly string[] }>) => sql<{ user_id: number; email: string }>`
    select e.user_id, lower(e.email) as email from user_emails e join users u on u.id = e.user_id and u.user_type = 'human'
     where e.confirmed_at is not null and lower(e.email) in (select lower(a) from unnest(${p.emails}::text[]) a)`,
)

/** The users of confirmed addresses, by the address in lower case. Locks the addresses until the transaction ends. */
export async function ownersOf(db: Db, emails: readonly string[]): Promise<ReadonlyMap<string, number>> {
  await db.run(lock, { emails })
  return new Map((await db.rows(owners, { emails })).map((row) => [row.email, row.user_id]))
}

interface Inserted {
  readonly emails: readonly string[]
  readonly digests: readonly Buffer[]
  readonly sealed: readonly Buffer[]
  readonly source_id: number
  readonly access_level: number
  readonly expires_at: string | null
  readonly waits: boolean
  readonly by: number
}
// An invitation that is over is as good as none.
const insertStatement = statements<Kind, Inserted, { id: number; email: string }>(
  (p, kind) => sql<{ id: number; email: string }>`
    insert into invitations as i (${column(kind)}, email, access_level, expires_at, waits, token_digest, sealed_token,
                                  created_by_id)
    select ${p.source_id}, email, ${p.access_level}, ${p.expires_at}::date, ${p.waits}, digest, sealed, ${p.by}
      from unnest(${p.emails}::text[], ${p.digests}::bytea[], ${p.sealed}::bytea[]) fresh (email, digest, sealed)
    on conflict (${column(kind)}, lower(email)) where ${column(kind)} is not null
    do update set email = excluded.email, access_level = excluded.access_level, expires_at = excluded.expires_at,
                  waits = excluded.waits, token_digest = excluded.token_digest, sealed_token = excluded.sealed_token, mailed_at = null,
                  created_by_id = excluded.created_by_id, created_at = now(), updated_at = now()
     where not ${standing}
    returning i.id, i.email`,
)
/** Those that were made: of an address that is invited already, none. */
export const insert = (
  db: Db,
  kind: Source['kind'],
  values: Inserted,
): Promise<{ id: number; email: string }[]> => db.rows(insertStatement({ kind }), values)

interface Changed {
  readonly id: number
  readonly access_level: number
  readonly expires_at: string | null
  readonly waits: boolean
}
const updateStatement = statement(
  (p: Slots<Changed>) => sql<InvitationRow>`
    update invitations set access_level = ${p.access_level}, expires_at = ${p.expires_at}::date,
           waits = ${p.waits}, updated_at = now()
     where id = ${p.id} returning *`,
)
export const update = (db: Db, values: Changed): Promise<InvitationRow> => db.update(updateStatement, values)

const removeStatement = statement(
  (p: Slots<{ id: number }>) => sql`delete from invitations where id = ${p.id}`,
)
export const remove = (db: Db, id: number): Promise<number> => db.run(removeStatement, { id })
