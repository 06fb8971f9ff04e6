import type { EnvironmentTier } from '../../db/schema/delivery.ts'
import type { Expression } from './expression.ts'
import type { JobOptions } from './options.ts'
import type { AutoCancel, EnvironmentAction, PlannedRetry, PlannedTrigger, Variable, When } from './plan.ts'

// The checked configuration, as `planPipeline` reads it: rules undecided, variables not expanded.

export interface Conditions {
  readonly if: Expression | null
  readonly changes: { readonly paths: readonly string[]; readonly compare_to: string | null } | null
  readonly exists: ExistsCondition | null
}
export interface ExistsCondition {
  readonly paths: readonly string[]
  readonly project: string | null
  readonly ref: string | null
}

/** Null takes the job's value. */
export interface RuleModel extends Conditions {
  readonly when: When | 'never' | null
  readonly start_in: number | null
  readonly allow_failure: boolean | null
  readonly variables: readonly Variable[]
  readonly needs: readonly NeedModel[] | null
  readonly interruptible: boolean | null
}

export interface WorkflowRuleModel extends Conditions {
  readonly when: 'always' | 'never'
  readonly variables: readonly Variable[]
  readonly auto_cancel: Partial<AutoCancel>
}

export interface PolicyModel {
  readonly refs: readonly string[] | null
  readonly variables: readonly Expression[] | null
  readonly changes: readonly string[] | null
  readonly kubernetes: boolean
}

export interface NeedModel {
  readonly name: string
  readonly artifacts: boolean
  readonly optional: boolean
  /** Only these instances of a parallel job; null for all. */
  readonly instances: readonly string[] | null
}

export interface EnvironmentModel {
  readonly name: string
  readonly url: string | null
  readonly action: EnvironmentAction
  readonly on_stop: string | null
  readonly auto_stop_in: string | null
  readonly tier: EnvironmentTier | null
}

export interface InstanceModel {
  readonly name: string
  readonly index: number
  readonly total: number
  /** Those of the matrix. */
  readonly variables: readonly Variable[]
}

export interface JobModel {
  readonly name: string
  readonly stage: string
  readonly kind: 'build' | 'bridge'
  /** Null where the job does not say. */
  readonly when: When | null
  readonly start_in: number | null
  readonly allow_failure: boolean | null
  readonly exit_codes: readonly number[] | null
  readonly needs: readonly NeedModel[] | null
  readonly dependencies: readonly string[] | null
  readonly tags: readonly string[]
  readonly resource_group: string | null
  readonly environment: EnvironmentModel | null
  readonly interruptible: boolean
  readonly retry: PlannedRetry
  readonly timeout: number | null
  /** Null for a job that is not parallel. */
  readonly instances: readonly InstanceModel[] | null
  readonly variables: readonly Variable[]
  /** Which root variables the job takes: all, none or the named ones. */
  readonly inherited: boolean | readonly string[]
  readonly rules: readonly RuleModel[] | null
  readonly only: PolicyModel | null
  readonly except: PolicyModel | null
  readonly coverage: string | null
  readonly manual_confirmation: string | null
  readonly options: JobOptions
  readonly trigger: PlannedTrigger | null
}

export interface Model {
  readonly stages: readonly string[]
  readonly jobs: readonly JobModel[]
  readonly variables: readonly Variable[]
  readonly workflow: {
    readonly name: string | null
    /** Null where the configuration has none: every pipeline runs. */
    readonly rules: readonly WorkflowRuleModel[] | null
    readonly auto_cancel: Partial<AutoCancel>
  }
}
