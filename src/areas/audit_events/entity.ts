import { Type as t, type Static } from 'typebox'
import { moment, nullable } from '../../http/params/schema.ts'
import type { AuditRow } from '../../core/settings/audit_log.ts'

export const AuditEvent = t.Object({
  id: t.Integer(),
  author_id: nullable(t.Integer()),
  entity_id: t.Integer(),
  entity_type: t.String(),
  event_name: t.String({ description: 'Such as `member_created`' }),
  event_type: t.String({ description: 'The same' }),
  details: t.Unsafe<object>({
    type: 'object',
    additionalProperties: true,
    description: '`add`, `remove`, `change` or `custom_message`, with author and target',
  }),
  created_at: moment(),
})

export const presentAudit = (row: AuditRow): Static<typeof AuditEvent> => ({
  id: row.id,
  author_id: row.author_id,
  entity_id: row.entity_id,
  entity_type: row.entity_type,
  event_name: row.event_type,
  event_type: row.event_type,
  details: { ...row.details, ip_address: null },
  created_at: row.created_at,
})
