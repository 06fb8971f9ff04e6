import { Type as t, type Static } from 'typebox'
import type { DeployTokenRow } from '../../core/people/deploy_tokens.ts'
import { moment, nullable } from '../../http/params/schema.ts'

export const DeployToken = t.Object({
  id: t.Integer(),
  name: t.String(),
  username: t.String(),
  expires_at: nullable(moment()),
  scopes: t.Array(t.String()),
  revoked: t.Boolean(),
  expired: t.Boolean(),
})

export const presentDeployToken = (
  { id, name, username, expires_at, scopes, revoked }: DeployTokenRow,
  { now }: { readonly now: Date },
): Static<typeof DeployToken> => ({
  id,
  name,
  username,
  expires_at,
  scopes,
  revoked,
  expired: expires_at !== null && expires_at <= now,
})
