import type { Generated, Selectable } from 'kysely'
import type { Id, Times } from './columns.ts'

/** Tables of schedules, environments and deployments. */
export interface DeliveryTables {
  pipeline_schedules: PipelineScheduleTable
  pipeline_schedule_variables: PipelineScheduleVariableTable
  environments: EnvironmentTable
  deployments: DeploymentTable
  deployment_merge_requests: { deployment_id: number; merge_request_id: number }
}

export type EnvironmentTier = 'production' | 'staging' | 'testing' | 'development' | 'other'

interface EnvironmentTable extends Times {
  id: Id
  project_id: number
  name: string
  slug: string
  external_url: string | null
  tier: EnvironmentTier
  state: Generated<'available' | 'stopping' | 'stopped'>
  auto_stop_at: Date | null
  auto_delete_at: Date | null
}

export type DeploymentStatus =
  'created' | 'running' | 'success' | 'failed' | 'canceled' | 'skipped' | 'blocked'

interface DeploymentTable extends Times {
  id: Id
  iid: number
  project_id: number
  environment_id: number
  job_id: number | null
  user_id: number | null
  ref: string
  tag: boolean
  sha: string
  status: DeploymentStatus
  external_url: string | null
  finished_at: Date | null
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
export type Environment = Selectable<EnvironmentTable>
export type Deployment = Selectable<DeploymentTable>
