import { Type as t, type Static } from 'typebox'
import type { FreezePeriod as Row } from '../../db/schema_freeze_periods.ts'
import { moment } from '../../http/schema.ts'

export const FreezePeriod = t.Object({
  id: t.Integer(),
  freeze_start: t.String({ description: 'A cron expression' }),
  freeze_end: t.String({ description: 'A cron expression' }),
  cron_timezone: t.String(),
  created_at: moment(),
  updated_at: moment(),
})

export const present = (row: Row): Static<typeof FreezePeriod> => ({
  id: row.id,
  freeze_start: row.freeze_start,
  freeze_end: row.freeze_end,
  cron_timezone: row.cron_timezone,
  created_at: row.created_at,
  updated_at: row.updated_at,
})
