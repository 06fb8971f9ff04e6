import { Type as t, type Static } from 'typebox'
import type { Token } from '../../core/access_tokens.ts'
import { date, nullable, timestamp } from '../../http/schema.ts'

/** A personal, project, group or impersonation token as an administrator sees it. */
export const TokenRecord = t.Object({
  id: t.Integer(),
  user_id: t.Integer(),
  name: t.String(),
  revoked: t.Boolean(),
  expires_at: nullable(date()),
  created_at: timestamp(),
  updated_at: timestamp(),
  impersonation: t.Boolean(),
  expire_notification_delivered: t.Boolean(),
  scopes: t.Array(t.String()),
  last_used_at: nullable(timestamp()),
  after_expiry_notification_delivered: t.Boolean(),
  previous_personal_access_token_id: nullable(t.Integer()),
  advanced_scopes: nullable(t.String()),
  organization_id: t.Integer(),
})

/** This instance is one organization, and sends no mail about expiring tokens. */
export const presentToken = (token: Token): Static<typeof TokenRecord> => ({
  id: token.id,
  user_id: token.user_id,
  name: token.name,
  revoked: token.revoked,
  expires_at: token.expires_at,
  created_at: token.created_at.toISOString(),
  updated_at: token.updated_at.toISOString(),
  impersonation: token.impersonation,
  expire_notification_delivered: false,
  scopes: token.scopes,
  last_used_at: token.last_used_at?.toISOString() ?? null,
  after_expiry_notification_delivered: false,
  previous_personal_access_token_id: token.previous_personal_access_token_id,
  advanced_scopes: null,
  organization_id: 1,
})
