import { randomBytes, scrypt, timingSafeEqual, type ScryptOptions } from 'node:crypto'
import { sql } from 'kysely'
import type { Db } from '../db/db.ts'
import { statement, type Slots } from '../db/statement.ts'

/** Cost of new digests: 32 MB and about a tenth of a second. A digest records its own cost, so this may change. */
const COST = { log2N: 15, r: 8, p: 1 }
const KEY_BYTES = 32

const derive = (password: string, salt: Buffer, { log2N, r, p }: typeof COST): Promise<Buffer> => {
  const N = 2 ** log2N
  const options: ScryptOptions = { N, r, p, maxmem: 256 * N * r }
  return new Promise((resolve, reject) =>
    scrypt(password.normalize('NFC'), salt, KEY_BYTES, options, (error, key) =>
      error ? reject(error) : resolve(key),
    ),
  )
}

async function digest(password: string): Promise<string> {
  const salt = randomBytes(16)
  const key = await derive(password, salt, COST)
  const { log2N, r, p } = COST
  return ['scrypt', log2N, r, p, salt.toString('base64'), key.toString('base64')].join('$')
}

async function matches(password: string, kept: string): Promise<boolean> {
  const [, log2N, r, p, salt = '', key = ''] = kept.split('$')
  const expected = Buffer.from(key, 'base64')
  const cost = { log2N: Number(log2N), r: Number(r), p: Number(p) }
  return timingSafeEqual(await derive(password, Buffer.from(salt, 'base64'), cost), expected)
}

const keep = statement(
  (p: Slots<{ user_id: number; digest: string }>) => sql`
    with ended as (delete from console_sessions where user_id = ${p.user_id})
    insert into user_passwords (user_id, digest) values (${p.user_id}, ${p.digest})
    on conflict (user_id) do update set digest = excluded.digest, changed_at = now()`,
)
const byLogin = statement(
  (p: Slots<{ login: string }>) => sql<{ id: number; digest: string | null }>`
    select u.id, w.digest from users u left join user_passwords w on w.user_id = u.id
     where u.state = 'active' and u.user_type = 'human'
       and (lower(u.username) = lower(${p.login}) or (lower(u.email) = lower(${p.login}) and u.confirmed_at is not null))
     limit 1`,
)
const byUser = statement(
  (p: Slots<{ user_id: number }>) =>
    sql<{ digest: string }>`select digest from user_passwords where user_id = ${p.user_id}`,
)

/** Keeps a password's digest and ends the user's sessions. */
export async function setPassword(db: Db, user_id: number, password: string): Promise<void> {
  await db.run(keep, { user_id, digest: await digest(password) })
}

/** Whether the user has that password; undefined when the user has none. */
export async function hasPassword(db: Db, user_id: number, password: string): Promise<boolean | undefined> {
  const row = await db.one(byUser, { user_id })
  return row === undefined ? undefined : matches(password, row.digest)
}

/** Compared for logins without a password, so that the time tells nothing of who has an account. */
let decoy: Promise<string> | undefined

/** The id of the active user with that name or confirmed address and that password. */
export async function findByPassword(db: Db, login: string, password: string): Promise<number | undefined> {
  const row = await db.one(byLogin, { login: login.replaceAll('\0', '') })
  decoy ??= digest(randomBytes(16).toString('hex'))
  const matched = await matches(password, row?.digest ?? (await decoy))
  return matched && row !== undefined && row.digest !== null ? row.id : undefined
}
