// Inputs and results of `compileConfig` and `planPipeline`: types only. Files come through injected functions.

import type { Model } from './model.ts'
import type { PipelineSource, PlannedPipeline, Variable } from './plan.ts'

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
  /** Reads a file of the artifacts of a job of the parent pipeline; a fault in words where there is none. */
  readonly readArtifact?: (job: string, path: string) => Promise<string | { readonly fault: string }>
  /** Variables for `include`: predefined (phase A), instance, group, project, pipeline, in this order. */
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
  /** The input of `planPipeline`. */
  readonly model: Model
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
  /** For each error the line in the main file of the job or keyword that it names; null where there is none. */
  readonly lines: readonly (number | null)[]
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
