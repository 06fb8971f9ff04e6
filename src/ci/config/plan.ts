// The seam between the configuration of pipelines and the engine that runs them: types only.

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
export type EnvironmentTier = 'production' | 'staging' | 'testing' | 'development' | 'other'
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
  /** What the bridge waits for: null succeeds as soon as the downstream pipeline exists. */
  readonly strategy: 'depend' | 'mirror' | null
  readonly forward: { readonly yaml_variables: boolean; readonly pipeline_variables: boolean }
}
export type TriggerInclude =
  | { readonly local: string }
  | { readonly project: string; readonly file: readonly string[]; readonly ref: string | null }
  | { readonly artifact: string; readonly job: string }

/** What the runner is told word for word: forms are normalised (lists are lists), variables stay unexpanded. */
export interface JobOptions {
  readonly script?: readonly string[]
  readonly before_script?: readonly string[]
  readonly after_script?: readonly string[]
  readonly image?: ImageOption
  readonly services?: readonly ImageOption[]
  readonly artifacts?: ArtifactsOption
  readonly cache?: readonly CacheOption[]
  readonly hooks?: { readonly pre_get_sources_script: readonly string[] }
  readonly release?: Readonly<Record<string, unknown>>
  readonly id_tokens?: Readonly<Record<string, { readonly aud: string | readonly string[] }>>
  readonly secrets?: Readonly<Record<string, unknown>>
  readonly identity?: string
  /** The folder of the archive that a pages job publishes. */
  readonly publish?: string
}
export interface ImageOption {
  readonly name: string
  readonly [key: string]: unknown
}
export interface ArtifactsOption {
  readonly name?: string
  readonly paths?: readonly string[]
  readonly exclude?: readonly string[]
  readonly untracked?: boolean
  readonly when?: 'on_success' | 'on_failure' | 'always'
  /** A duration as written, or `never`. */
  readonly expire_in?: string
  readonly expose_as?: string
  readonly access?: 'none' | 'developer' | 'maintainer' | 'all'
  readonly public?: boolean
  /** Kind of report to paths. `coverage_report` keeps its own form. */
  readonly reports?: Readonly<Record<string, unknown>>
}
export interface CacheOption {
  readonly key?: string | { readonly files: readonly string[]; readonly prefix?: string }
  readonly paths?: readonly string[]
  readonly untracked?: boolean
  readonly policy?: string
  readonly when?: 'on_success' | 'on_failure' | 'always'
  readonly unprotect?: boolean
  readonly fallback_keys?: readonly string[]
}

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

/** One file with where it stands: nested includes are resolved from there. */
export interface ConfigSource {
  readonly content: string
  /** Path in the repository. */
  readonly path: string
}

/** The files of a project at a commit. */
export interface ProjectFiles {
  /** Full path of the project; tells files of one name apart. */
  readonly project: string
  readonly sha: string
  /** Content of a file, undefined where there is none. Text larger than `limits.file_bytes` may be cut. */
  readonly read: (path: string) => Promise<string | undefined>
  /** Every path of the tree, for globs. */
  readonly paths: () => Promise<readonly string[]>
}

export interface ConfigLimits {
  /** Of one file, 1 MB by default; of all included ones together, 2 MB. */
  readonly file_bytes: number
  readonly total_bytes: number
  readonly depth: number
  readonly includes: number
}

export interface CompileContext {
  readonly files: ProjectFiles
  /** Files of another project as the pipeline's user may read its code; 'project' or 'ref' says what was not found. */
  readonly openProject: (path: string, ref: string | null) => Promise<ProjectFiles | 'project' | 'ref'>
  /** What `include` may use: predefined (phase A), instance, group, project and pipeline variables, in this order. */
  readonly variables: readonly Variable[]
  /** Changed paths for `include:rules:changes`, as in `PlanContext`. */
  readonly changedPaths: PlanContext['changedPaths']
  readonly limits?: Partial<ConfigLimits>
}

/** A valid configuration. Only `planPipeline` and lint read it; it may be planned any number of times. */
export interface Compiled {
  readonly stages: readonly string[]
  /** All files merged, `extends` and references resolved: the JSON form of the configuration. */
  readonly merged: Readonly<Record<string, unknown>>
  readonly includes: readonly IncludedFile[]
  readonly warnings: readonly string[]
}
export interface IncludedFile {
  readonly type: 'local' | 'file'
  readonly location: string
  readonly extra: Readonly<Record<string, string>>
  /** The project and commit whose file includes this one. */
  readonly context_project: string
  readonly context_sha: string
  /** The project and commit the file itself is of. */
  readonly project: string
  readonly sha: string
}
export interface ConfigFaults {
  readonly errors: readonly string[]
  readonly warnings: readonly string[]
}

export interface PlanContext {
  readonly source: PipelineSource
  /** Branch or tag name; `refs/merge-requests/N/head` for merge requests. */
  readonly ref: string
  readonly tag: boolean
  /** Full path of the project. */
  readonly project: string
  readonly variables: {
    /** Phase A and the user's; what depends on the job (CI_JOB_NAME …) the planner adds itself. */
    readonly predefined: readonly Variable[]
    /** Instance, group and project variables that a job with this environment (null: none) sees, weakest first. */
    readonly secret: (environment: string | null) => readonly Variable[]
    /** Of the API, schedule, trigger or bridge: they win over all others. */
    readonly pipeline: readonly Variable[]
  }
  /**
   * Paths that the pipeline's commits change; null where there is no list (new branch, tag, schedule, api, web, trigger).
   * With `compareTo`, from the merge base with that ref; 'ref' where it does not resolve.
   */
  readonly changedPaths: (compareTo?: string) => Promise<readonly string[] | null | 'ref'>
  readonly files: ProjectFiles
  /** Files of another project for `rules:exists:project`. */
  readonly openProject: CompileContext['openProject']
  readonly limits: {
    /** 0 for none. */
    readonly pipeline_size: number
    readonly needs: number
  }
}

export type PlanFailure =
  'config_error' | 'filtered_by_rules' | 'filtered_by_workflow_rules' | 'size_limit_exceeded'

/** Reads and checks a configuration. Never throws for what the text holds; yields to the event loop every few milliseconds. */
export type CompileConfig = (
  source: ConfigSource,
  context: CompileContext,
) => Promise<Compiled | ConfigFaults>

/** Decides which jobs a pipeline has. Creates nothing; yields to the event loop every few milliseconds. */
export type PlanPipeline = (
  compiled: Compiled,
  context: PlanContext,
) => Promise<
  { readonly plan: PlannedPipeline } | { readonly errors: readonly string[]; readonly reason: PlanFailure }
>
