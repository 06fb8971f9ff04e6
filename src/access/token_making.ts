import { existing } from '../db/rows.ts'
import { find, revoke, type Token } from '../core/people/access_tokens.ts'
import type { Context } from '../http/gate.ts'
import { invalid, refused, type Problem } from '../http/problems.ts'
import { create, makeToken, type NewToken } from './tokens.ts'

type Here = Pick<Context, 'db' | 'settings' | 'now'>

/** The day that many days from now, in UTC. */
const dayAfter = (now: Date, days: number): string =>
  new Date(now.getTime() + days * 86_400_000).toISOString().slice(0, 10)

/** How long a token lasts for which nobody said it. */
const LIFETIME = 365
const ROTATED_LIFETIME = 7

/** As published, a token may expire today: it is made, and over already. */
export const pastExpiry = (): Problem => invalid({ expires_at: ['must be a date in the future'] })

/** A token without a scope would do for nothing too. */
export const noScopes = (): Problem => invalid({ scopes: ["can't be blank"] })

/** Makes a token and gives its row beside it, to be shown this once. Throws the Problem for one that would do for nothing. */
export async function issueToken(
  { db, settings, now }: Here,
  wanted: Omit<NewToken, 'token' | 'expires_at'> & { readonly expires_at?: string | undefined },
): Promise<{ row: Token; token: string }> {
  if (wanted.scopes.length === 0) throw noScopes()
  const token = makeToken(settings.get('personal_access_token_prefix'))
  const expires_at = wanted.expires_at ?? dayAfter(now, LIFETIME)
  if (expires_at < dayAfter(now, 0)) throw pastExpiry()
  const row = existing(await find(db, await create(db, { ...wanted, token, expires_at })))
  return { row, token }
}

export const alreadyRevoked = (): Problem => refused('400 Bad request - token already revoked')

/** Revokes a token and makes one in its place. Throws the published Problem for one that is revoked. */
export async function rotateToken(
  here: Here,
  old: Token,
  expires_at: string | undefined,
): Promise<{ row: Token; token: string }> {
  if ((await revoke(here.db, old.id)) === 0) throw alreadyRevoked()
  const { user_id, name, description, impersonation } = old
  const scopes = old.scopes as NewToken['scopes']
  return issueToken(here, {
    user_id,
    name,
    description,
    impersonation,
    scopes,
    previous: old.id,
    expires_at: expires_at ?? dayAfter(here.now, ROTATED_LIFETIME),
  })
}
