import type { Static } from 'typebox'
import * as accessTokens from '../../core/access_tokens.ts'
import { DEFAULT_SETTINGS, type Settings } from '../../core/settings.ts'
import { digestOf } from '../../access/tokens.ts'
import type { Db } from '../../db/client.ts'
import { presentToken, type TokenRecord } from './entity.ts'

/** A token that was found by its text. */
export interface Found {
  /** The record that introspection answers. */
  readonly record: Static<typeof TokenRecord>
  readonly target: { readonly type: string; readonly id: number; readonly details: string }
  /** The user in whose audit log the act appears. */
  readonly userId: number
  /** Ends the token, or replaces it by one that nobody knows. Absent where the kind cannot be revoked here. */
  readonly revoke?: (db: Db) => Promise<void>
}

/** One kind of token. The prefix alone decides which kind a text is of. */
export interface TokenKind {
  readonly prefixes: (settings: Settings) => readonly string[]
  readonly find: (db: Db, token: string) => Promise<Found | undefined>
}

/** Personal, project, group and impersonation tokens; the last three belong to bots or to other users. */
const accessToken: TokenKind = {
  prefixes: (settings) => [
    settings.get('personal_access_token_prefix'),
    DEFAULT_SETTINGS.personal_access_token_prefix,
  ],
  find: async (db, text) => {
    const token = await accessTokens.findByDigest(db, digestOf(text))
    return (
      token && {
        record: presentToken(token),
        target: { type: 'PersonalAccessToken', id: token.id, details: token.name },
        userId: token.user_id,
        revoke: async (tx) => void (await accessTokens.revoke(tx, token.id)),
      }
    )
  },
}

/** Every kind that this service issues and the published interface can look up. */
const KINDS: readonly TokenKind[] = [accessToken]

/** The kind with the longest prefix that a text begins with; undefined when no kind has one. */
export function kindOf(token: string, settings: Settings): TokenKind | undefined {
  const fits = KINDS.flatMap((kind) =>
    kind
      .prefixes(settings)
      .filter((prefix) => token.startsWith(prefix))
      .map((prefix) => ({ kind, length: prefix.length })),
  )
  return fits.sort((a, b) => b.length - a.length)[0]?.kind
}
