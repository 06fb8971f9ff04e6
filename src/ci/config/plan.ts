// The seam between the configuration of pipelines and the engine that runs them: types only.
// `context.ts` has the two functions, `options.ts` what the runner is told.

import type { EnvironmentTier } from '../../db/schema/delivery.ts'
import type { JobOptions } from './options.ts'

/** A variable. Later lists override earlier ones by `key`. */
export interface Variable {
  readonly key: string
  readonly value: string
  /** The value is neither expanded nor used to expand others as more than its own text. */
  readonly raw?: boolean
  /** The runner writes the value to a file; the variable holds the path of that file. */
  readonly file?: boolean
}

/** How a pipeline came to be: the values of `CI_PIPELINE_SOURCE` that this product creates. */
export type PipelineSource =
  | 'push'
  | 'web'
  | 'trigger'
  | 'schedule'
  | 'api'
  | 'external'
  | 'pipeline'
  | 'parent_pipeline'
  | 'merge_request_event'

export type OnNewCommit = 'conservative' | 'interruptible' | 'none'
export type OnJobFailure = 'all' | 'none'
export interface AutoCancel {
  readonly on_new_commit: OnNewCommit
  readonly on_job_failure: OnJobFailure
}

export type When = 'on_success' | 'on_failure' | 'always' | 'manual' | 'delayed'

/** A pipeline as it is to be inserted: every rule decided, every name expanded. */
export interface PlannedPipeline {
  /** The expanded, trimmed `workflow:name`; absent where there is none. */
  readonly name?: string
  /** Names of the stages that hold a job, in the order they run. */
  readonly stages: readonly string[]
  /** Ordered by stage; inside a stage as they stand in the configuration, instances by their index. */
  readonly jobs: readonly PlannedJob[]
  readonly autoCancel: AutoCancel
  /** Root variables with those of the matching workflow rule merged over: what bridges forward. */
  readonly variables: readonly Variable[]
}

export interface PlannedNeed {
  /** The name of a planned job; the name of a parallel job is resolved to one need for each of its instances. */
  readonly name: string
  /** Whether the needed job's artifacts are downloaded. */
  readonly artifacts: boolean
  readonly optional: boolean
}

export type EnvironmentAction = 'start' | 'prepare' | 'stop' | 'verify' | 'access'
export interface PlannedEnvironment {
  /** Expanded. */
  readonly name: string
  /** Expanded as far as creation knows the variables; the rest stays as written. */
  readonly url: string | null
  readonly action: EnvironmentAction
  /** The name of the job that stops it. */
  readonly on_stop: string | null
  /** As written (`1 day`, `never`), variables expanded. */
  readonly auto_stop_in: string | null
  /** As configured; null where it follows from the name. */
  readonly tier: EnvironmentTier | null
}

export interface PlannedRetry {
  /** 0 to 2. */
  readonly max: number
  /** Failure reasons; `always` stands for all of them. Empty where only exit codes are given. */
  readonly when: readonly string[]
  readonly exit_codes: readonly number[]
}

/** A downstream pipeline of another project, or a child pipeline of the same commit. */
export interface PlannedTrigger {
  /** Full path, expanded; null for a child pipeline. */
  readonly project: string | null
  /** Expanded; null for the default branch. */
  readonly branch: string | null
  /** The files of a child pipeline, as `include` takes them; null for another project. */
  readonly include: readonly TriggerInclude[] | null
  /** The bridge's condition of success: null succeeds as soon as the downstream pipeline exists. */
  readonly strategy: 'depend' | 'mirror' | null
  readonly forward: { readonly yaml_variables: boolean; readonly pipeline_variables: boolean }
}
export type TriggerInclude =
  | { readonly local: string }
  | { readonly project: string; readonly file: readonly string[]; readonly ref: string | null }
  | { readonly artifact: string; readonly job: string }

export interface PlannedJob {
  /** Unique in the pipeline; carries ` 1/3` or `: [a, b]` for an instance of a parallel job. */
  readonly name: string
  readonly stage: string
  /** Position of the stage in `PlannedPipeline.stages`. */
  readonly stage_index: number
  readonly kind: 'build' | 'bridge'
  readonly when: When
  /** Seconds; set where `when` is `delayed`. */
  readonly start_in: number | null
  readonly allow_failure: boolean
  /** Only these exit codes are allowed failures; null where `allow_failure` decides alone. */
  readonly allow_failure_exit_codes: readonly number[] | null
  /** `dag` where `needs` is given, even empty. */
  readonly scheduling_type: 'stage' | 'dag'
  /** Every name is a job of this plan; optional needs of absent jobs are left out. */
  readonly needs: readonly PlannedNeed[]
  /** Names of planned jobs whose artifacts are downloaded; null for all of earlier stages (or of `needs`). */
  readonly dependencies: readonly string[] | null
  /** Expanded. */
  readonly tags: readonly string[]
  /** Expanded key. */
  readonly resource_group: string | null
  readonly environment: PlannedEnvironment | null
  readonly interruptible: boolean
  readonly retry: PlannedRetry
  /** Seconds; null for the project's. */
  readonly timeout: number | null
  /** Set for an instance of a parallel job; `index` counts from 1. */
  readonly instance: { readonly index: number; readonly total: number } | null
  /** Root variables, the workflow rule's, the job's, its instance's and its rule's, later ones winning. Not expanded. */
  readonly variables: readonly Variable[]
  /** The pattern without its slashes, RE2 syntax. */
  readonly coverage: string | null
  readonly manual_confirmation: string | null
  readonly options: JobOptions
  /** Set for a bridge. */
  readonly trigger: PlannedTrigger | null
}
