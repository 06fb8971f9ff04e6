import type { Generated, Selectable } from 'kysely'
import type { Id, Json, Time, Times } from './columns.ts'

// The tables of what stands beside a repository.

export interface ProtectedBranchTable extends Times {
  id: Id
  project_id: number
  name: string
  allow_force_push: Generated<boolean>
}

export interface ProtectedBranchLevelTable {
  id: Id
  protected_branch_id: number
  action: 'push' | 'merge' | 'unprotect'
  access_level: number
  user_id: number | null
}

export interface ProjectCounterTable {
  project_id: number
  counts: string
  last: Generated<number>
}

export interface PipelineTable extends Times {
  id: Id
  iid: number
  project_id: number
  sha: string
  ref: string
  status: Generated<string>
  source: Generated<string>
  user_id: number | null
  before_sha: Generated<string>
  tag: Generated<boolean>
  protected: Generated<boolean>
  name: string | null
  stages: Generated<string[]>
  yaml_errors: string | null
  failure_reason: string | null
  /** Sealed JSON. */
  variables: Buffer | null
  yaml_variables: Json<readonly PipelineVariable[]>
  on_new_commit: Generated<'conservative' | 'interruptible' | 'none'>
  on_job_failure: Generated<'all' | 'none'>
  auto_canceled_by_id: number | null
  merge_request_id: number | null
  parent_id: number | null
  source_job_id: number | null
  schedule_id: number | null
  committed_at: Date | null
  started_at: Date | null
  finished_at: Date | null
  /** Seconds that any of its jobs ran. */
  duration: number | null
}

export interface PipelineVariable {
  readonly key: string
  readonly value: string
  readonly raw?: boolean
  readonly file?: boolean
}

export interface CommitKeyTable {
  project_id: number
  user_id: number
  key: string
  branch: string
  sha: string
  created_at: Time
}

type CommitState = 'pending' | 'running' | 'success' | 'failed' | 'canceled' | 'skipped'

export interface CommitStatusTable extends Times {
  id: Id
  project_id: number
  pipeline_id: number
  author_id: number | null
  sha: string
  ref: string
  name: string
  status: CommitState
  target_url: string | null
  description: string | null
  coverage: number | null
  allow_failure: Generated<boolean>
  retried: Generated<boolean>
  started_at: Date | null
  finished_at: Date | null
}

export type ProtectedBranch = Selectable<ProtectedBranchTable>
export type ProtectedBranchLevel = Selectable<ProtectedBranchLevelTable>
export type Pipeline = Selectable<PipelineTable>
export type CommitStatus = Selectable<CommitStatusTable>
