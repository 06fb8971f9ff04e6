import { Type as t, type Static } from 'typebox'
import type { Token } from '../../core/people/access_tokens.ts'
import { date, nullable, moment } from '../../http/params/schema.ts'

/** A token as all of its readers see it; its text is shown once, at creation. */
export const AccessToken = t.Object({
  id: t.Integer(),
  name: t.String(),
  revoked: t.Boolean(),
  created_at: moment(),
  description: nullable(t.String()),
  scopes: t.Array(t.String()),
  user_id: t.Integer(),
  last_used_at: nullable(moment()),
  active: t.Boolean(),
  expires_at: nullable(date()),
})
export const NewAccessToken = t.Object({ ...AccessToken.properties, token: t.String() })

export const presentToken = (token: Token): Static<typeof AccessToken> => ({
  id: token.id,
  name: token.name,
  revoked: token.revoked,
  created_at: token.created_at,
  description: token.description,
  scopes: token.scopes,
  user_id: token.user_id,
  last_used_at: token.last_used_at,
  active: token.active,
  expires_at: token.expires_at,
})
