import { randomBytes } from 'node:crypto'
import { sql } from 'kysely'
import type { Db } from '../db/db.ts'
import { statement, type Slots } from '../db/statement.ts'
import { digestOf } from './tokens.ts'

/** Days without a request after which a session ends, and days after which it ends in any case. */
const IDLE_DAYS = 14
const MAX_DAYS = 90
/** Characters kept of a browser's name. */
const MAX_AGENT = 300

export interface Session {
  readonly id: number
  readonly user_id: number
  readonly token_id: number | null
}

/** A session as its user sees it in the list. */
export interface SessionRow extends Session {
  readonly ip: string
  readonly user_agent: string
  readonly created_at: Date
  readonly last_used_at: Date
}

const STANDS = sql`s.last_used_at > now() - ${sql.lit(`${IDLE_DAYS} days`)}::interval
  and s.created_at > now() - ${sql.lit(`${MAX_DAYS} days`)}::interval`

const insert = statement(
  (
    p: Slots<{ digest: Buffer; user_id: number; token_id: number | null; ip: string; user_agent: string }>,
  ) => sql`
    with expired as (
      delete from console_sessions s where s.user_id = ${p.user_id} and not (${STANDS})
    )
    insert into console_sessions (digest, user_id, token_id, ip, user_agent)
    values (${p.digest}, ${p.user_id}, ${p.token_id}, ${p.ip}, ${p.user_agent})`,
)
// The clock of a session moves once in ten minutes: reading a page writes nothing else.
const byDigest = statement(
  (p: Slots<{ digest: Buffer }>) => sql<Session & { stale: boolean }>`
    select s.id, s.user_id, s.token_id, s.last_used_at < now() - interval '10 minutes' as stale
      from console_sessions s join users u on u.id = s.user_id
      left join personal_access_tokens t on t.id = s.token_id
     where s.digest = ${p.digest} and ${STANDS} and u.state = 'active'
       and (s.token_id is null or (not t.revoked and (t.expires_at is null or t.expires_at > today())))`,
)
const touch = statement(
  (p: Slots<{ id: number }>) => sql`update console_sessions set last_used_at = now() where id = ${p.id}`,
)
const remove = statement(
  (p: Slots<{ id: number; user_id: number }>) =>
    sql`delete from console_sessions where id = ${p.id} and user_id = ${p.user_id}`,
)
const ofUser = statement(
  (p: Slots<{ user_id: number }>) => sql<SessionRow>`
    select s.id, s.user_id, s.token_id, s.ip, s.user_agent, s.created_at, s.last_used_at
      from console_sessions s where s.user_id = ${p.user_id} and ${STANDS} order by s.last_used_at desc, s.id desc`,
)

interface NewSession {
  readonly user_id: number
  readonly token_id: number | null
  readonly ip: string
  readonly user_agent: string
}

/** Begins a session and gives the secret that its cookie holds; the database keeps a digest of it. */
export async function beginSession(db: Db, { user_agent, ...values }: NewSession): Promise<string> {
  const secret = randomBytes(32).toString('base64url')
  await db.run(insert, { ...values, user_agent: user_agent.slice(0, MAX_AGENT), digest: digestOf(secret) })
  return secret
}

/** The session of a cookie, undefined when it ended, its user is not active, or its token is over. */
export async function findSession(db: Db, secret: string): Promise<Session | undefined> {
  const row = await db.one(byDigest, { digest: digestOf(secret) })
  if (row?.stale === true) void db.run(touch, { id: row.id }).catch(() => {})
  return row
}

export const endSession = (db: Db, session: Pick<Session, 'id' | 'user_id'>): Promise<number> =>
  db.run(remove, { id: session.id, user_id: session.user_id })

export const sessionsOf = (db: Db, user_id: number): Promise<readonly SessionRow[]> =>
  db.rows(ofUser, { user_id })
