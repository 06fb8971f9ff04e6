import type { Selectable } from 'kysely'
import type { Id, Times } from './columns.ts'

export interface FreezePeriodTable extends Times {
  id: Id
  project_id: number
  freeze_start: string
  freeze_end: string
  cron_timezone: string
}

export type FreezePeriod = Selectable<FreezePeriodTable>
