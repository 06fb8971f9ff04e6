import type { Generated, Selectable } from 'kysely'
import type { Id, Times } from './columns.ts'

/** Tables of schedules, environments and deployments. */
export interface DeliveryTables {
  pipeline_schedules: PipelineScheduleTable
  pipeline_schedule_variables: PipelineScheduleVariableTable
}

interface PipelineScheduleTable extends Times {
  id: Id
  project_id: number
  owner_id: number | null
  description: string
  /** With `refs/heads/` or `refs/tags/`. */
  ref: string
  cron: string
  cron_timezone: string
  active: Generated<boolean>
  next_run_at: Date | null
}

interface PipelineScheduleVariableTable extends Times {
  id: Id
  schedule_id: number
  key: string
  sealed_value: Buffer
  variable_type: Generated<'env_var' | 'file'>
  raw: Generated<boolean>
}

export type PipelineSchedule = Selectable<PipelineScheduleTable>
export type PipelineScheduleVariable = Selectable<PipelineScheduleVariableTable>
