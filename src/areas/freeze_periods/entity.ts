import { Type as t, type Static } from 'typebox'
import { moment } from '../../http/params/schema.ts'

/** The fields that callers write. */
export const fields = {
  freeze_start: t.String({ description: 'A cron expression of five fields' }),
  freeze_end: t.String({ description: 'A cron expression of five fields' }),
  cron_timezone: t.String({ default: 'UTC', description: 'An IANA time zone' }),
}

export const FreezePeriod = t.Object({
  id: t.Integer(),
  ...fields,
  created_at: moment(),
  updated_at: moment(),
})

export type Row = Static<typeof FreezePeriod> & { readonly project_id: number }
declare module '../../db/schema/tables.ts' {
  interface Database {
    freeze_periods: Row
  }
}
