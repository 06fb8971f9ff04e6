import { sql } from 'kysely'
import type { Db } from '../../db/db.ts'
import { statement, type Slots } from '../../db/statement.ts'
import { lasts } from '../values/expiry.ts'

/** An invitation that nobody accepted yet, with the place it is to. */
export interface StandingInvitation {
  readonly id: number
  readonly email: string
  readonly access_level: number
  readonly expires_at: string | null
  readonly mailed_at: Date | null
  readonly sealed_token: Buffer
  readonly place: string
}

const standing = sql`
  select i.id, i.email, i.access_level, i.expires_at, i.mailed_at, i.sealed_token,
         coalesce(n.full_path, p.full_path) as place
    from invitations i
    left join namespaces n on n.id = i.namespace_id left join projects p on p.id = i.project_id
   where ${lasts('i')}`
const all = statement(() => sql<StandingInvitation>`${standing} order by i.id limit 10000`)
const byToken = statement(
  (p: Slots<{ digest: Buffer }>) => sql<StandingInvitation>`${standing} and i.token_digest = ${p.digest}`,
)

export const listInvitations = (db: Db): Promise<StandingInvitation[]> => db.rows(all, {})
export const findInvitation = (db: Db, digest: Buffer): Promise<StandingInvitation | undefined> =>
  db.one(byToken, { digest })

const confirm = statement(
  (p: Slots<{ username: string; email: string }>) => sql`
    update user_emails e set confirmed_at = coalesce(e.confirmed_at, now())
      from users u
     where u.id = e.user_id and lower(u.username) = lower(${p.username}) and lower(e.email) = lower(${p.email})`,
)
const confirmPrimary = statement(
  (p: Slots<{ username: string; email: string }>) => sql`
    update users set confirmed_at = coalesce(confirmed_at, now())
     where lower(username) = lower(${p.username}) and lower(email) = lower(${p.email})`,
)
/** Makes an address known to be the user's; invitations to it are accepted. How many: 0 when it is not there. */
export const confirmEmail = (db: Db, username: string, email: string): Promise<number> =>
  db.transaction(async (tx) => {
    const primary = await tx.run(confirmPrimary, { username, email })
    return primary > 0 ? primary : tx.run(confirm, { username, email })
  })
