import type { Generated, Selectable } from 'kysely'
import type { Id, Json, Time, Times } from './columns.ts'
import type { EnvironmentTier } from './delivery.ts'
import type { PipelineVariable } from './repositories.ts'

// Pipelines, and what starts, runs and orders their jobs.

export interface TriggerTokenTable extends Times {
  id: Id
  project_id: number
  owner_id: number | null
  description: string
  digest: Buffer
  sealed: Buffer
  last_used_at: Date | null
}

export interface ResourceGroupTable extends Times {
  id: Id
  project_id: number
  key: string
  process_mode: Generated<'unordered' | 'oldest_first' | 'newest_first'>
}

export interface RunnerTable extends Times {
  id: Id
  runner_type: 'instance_type' | 'group_type' | 'project_type'
  digest: Buffer
  group_id: number | null
  creator_id: number | null
  description: string | null
  maintenance_note: string | null
  paused: Generated<boolean>
  locked: Generated<boolean>
  run_untagged: Generated<boolean>
  tag_list: Generated<string[]>
  access_level: Generated<'not_protected' | 'ref_protected'>
  maximum_timeout: number | null
  contacted_at: Date | null
}

export interface RunnerProjectTable {
  runner_id: number
  project_id: number
  created_at: Time
}

export interface RunnerManagerTable {
  id: Id
  runner_id: number
  system_id: string
  version: string | null
  revision: string | null
  platform: string | null
  architecture: string | null
  ip_address: string | null
  contacted_at: Time
  created_at: Time
}

export interface TagSetTable {
  id: Id
  tags: string[]
}

export interface JobSpecTable {
  id: Id
  pipeline_id: number
  run_when: 'on_success' | 'on_failure' | 'always' | 'manual' | 'delayed'
  start_in: number | null
  allow_failure: boolean
  allow_failure_exit_codes: number[] | null
  scheduling_type: 'stage' | 'dag'
  needs: Generated<string[]>
  needs_without_artifacts: Generated<string[]>
  dependencies: string[] | null
  interruptible: Generated<boolean>
  retry_max: Generated<number>
  retry_when: Generated<string[]>
  retry_exit_codes: Generated<number[]>
  timeout: number | null
  coverage: string | null
  manual_confirmation: string | null
  instance_index: number | null
  instance_total: number | null
  environment: Json<JobEnvironment> | null
  trigger: Json<object> | null
  variables: Json<readonly PipelineVariable[]>
  options: Json<Record<string, unknown>>
}

/** The environment of a job as it was planned. */
export interface JobEnvironment {
  readonly name: string
  readonly url: string | null
  readonly action: 'start' | 'prepare' | 'stop' | 'verify' | 'access'
  readonly on_stop: string | null
  readonly tier: EnvironmentTier | null
  /** Null for never; absent where the configuration does not say. */
  readonly auto_stop_seconds?: number | null
}

export interface JobTable extends Times {
  id: Id
  project_id: number
  pipeline_id: number
  spec_id: number
  kind: 'build' | 'bridge'
  name: string
  stage: string
  stage_index: number
  status: Generated<JobStatus>
  allow_failure: boolean
  retried: Generated<boolean>
  failure_reason: string | null
  exit_code: number | null
  user_id: number | null
  resource_group_id: number | null
  environment_id: number | null
  tag_set_id: number
  protected: Generated<boolean>
  instance_runners: Generated<boolean>
  runner_id: number | null
  runner_manager_id: number | null
  token_digest: Buffer | null
  cancels_gracefully: Generated<boolean>
  /** Seconds. */
  timeout: number | null
  /** Sealed JSON: variables given when the job was played. */
  variables: Buffer | null
  /** Sealed JSON: variables of its dotenv report. */
  dotenv: Buffer | null
  downstream_id: number | null
  coverage: number | null
  trace_size: Generated<number>
  artifacts_expire_at: Date | null
  queued_at: Date | null
  scheduled_at: Date | null
  started_at: Date | null
  finished_at: Date | null
  erased_at: Date | null
  contacted_at: Date | null
}

/** The states that a job of this engine can be in. */
export type JobStatus =
  | 'created'
  | 'waiting_for_resource'
  | 'pending'
  | 'running'
  | 'canceling'
  | 'success'
  | 'failed'
  | 'canceled'
  | 'skipped'
  | 'manual'
  | 'scheduled'

export interface JobArtifactTable {
  id: Id
  job_id: number
  project_id: number
  file_type: string
  file_format: string
  filename: string
  size: number
  sha256: string
  expire_at: Date | null
  created_at: Time
}

export type ResourceGroup = Selectable<ResourceGroupTable>
export type Runner = Selectable<RunnerTable>
export type RunnerManager = Selectable<RunnerManagerTable>
export type JobSpec = Selectable<JobSpecTable>
export type Job = Selectable<JobTable>
export type JobArtifact = Selectable<JobArtifactTable>
export type TriggerToken = Selectable<TriggerTokenTable>
