import { createHash, randomBytes } from 'node:crypto'
import { sql } from 'kysely'
import type { Db } from '../db/db.ts'
import { q, statement, type Slots } from '../db/statement.ts'

/** The scopes a personal, project or group token can have. */
export const SCOPES = [
  'api',
  'read_api',
  'read_user',
  'read_repository',
  'write_repository',
  'sudo',
  'admin_mode',
  'create_runner',
  'manage_runner',
  'k8s_proxy',
  'ai_features',
] as const
export type Scope = (typeof SCOPES)[number]

/** The digest of a token: 32 bytes. Tokens are long and random, so no salt is needed. */
export const digestOf = (token: string): Buffer => createHash('sha256').update(token).digest()

/** A fresh token behind the instance's prefix. */
export const makeToken = (prefix: string): string => prefix + randomBytes(24).toString('base64url')

export interface NewToken {
  readonly user_id: number
  readonly name: string
  readonly token: string
  readonly scopes: readonly Scope[]
  /** `YYYY-MM-DD`, the first day on which the token is refused; null for never. */
  readonly expires_at: string | null
  readonly impersonation?: boolean
  readonly description?: string | null
  /** The token that this one takes the place of. */
  readonly previous?: number | null
}

const insertToken = statement(
  (
    p: Slots<{
      user_id: number
      name: string
      digest: Buffer
      scopes: string[]
      expires_at: string | null
      impersonation: boolean
      description: string | null
      previous: number | null
    }>,
  ) =>
    q
      .insertInto('personal_access_tokens')
      .values({
        user_id: p.user_id,
        name: p.name,
        digest: p.digest,
        scopes: p.scopes,
        expires_at: p.expires_at,
        impersonation: p.impersonation,
        description: p.description,
        previous_personal_access_token_id: p.previous,
      })
      .returning('id'),
)
const touchToken = statement(
  (p: Slots<{ id: number }>) => sql`
    update personal_access_tokens set last_used_at = now()
     where id = ${p.id} and (last_used_at is null or last_used_at < now() - interval '10 minutes')`,
)

/** Keeps a token's digest. The token itself is the caller's to show, once. */
export async function create(db: Db, { token, ...values }: NewToken): Promise<number> {
  const row = await db.insert(insertToken, {
    ...values,
    digest: digestOf(token),
    scopes: [...values.scopes],
    impersonation: values.impersonation ?? false,
    description: values.description ?? null,
    previous: values.previous ?? null,
  })
  return row.id
}

/** Notes that a token was used, at most every ten minutes. */
export const touch = (db: Db, id: number): Promise<number> => db.run(touchToken, { id })
