import type { Project } from '../../core/places/projects.ts'
import type { Pipeline } from '../../db/schema/repositories.ts'
import type { User } from '../../db/schema/tables.ts'
import type { Commit } from '../../git/objects/commit.ts'
import type { CompileContext } from '../config/context.ts'
import type { PipelineSource, Variable } from '../config/plan.ts'
import type { MergeRequestEnds } from './merge_request_facts.ts'

/** A pipeline that is wanted. */
export interface PipelineRequest {
  /** With the role that the user holds on it. */
  readonly project: Project
  readonly user: User
  /** A branch or tag, with or without `refs/heads/` and `refs/tags/`. */
  readonly ref: string
  readonly source: PipelineSource
  readonly variables: readonly Variable[]
  /** Set where a push option skips it. */
  readonly skips?: boolean
  /** Of a push: the commit that the branch was at before. */
  readonly before?: string
  /** Of a push: the commit that the branch was moved to, wherever it is now. */
  readonly sha?: string
  /** The job whose token or bridge asks for it. */
  readonly source_job_id?: number
  readonly schedule_id?: number
  /** Of a child pipeline. */
  readonly parent?: ParentPipeline
  /** That the pipeline is of, at `sha`. */
  readonly merge_request?: MergeRequestEnds
}

/** The pipeline that a child pipeline has its commit of, and the child's configuration. */
export interface ParentPipeline {
  readonly pipeline: Pick<Pipeline, 'id' | 'ref' | 'tag' | 'sha' | 'protected' | 'merge_request_id'>
  /** In the place of the project's file. */
  readonly content: string
  readonly readArtifact: NonNullable<CompileContext['readArtifact']>
}

/** Where a pipeline runs. */
export interface FoundRef {
  /** As the pipeline's row has it: without `refs/heads/` and `refs/tags/`. */
  readonly ref: string
  readonly tag: boolean
  readonly sha: string
  readonly protected: boolean
}

/** Where a pipeline runs, with the commit. */
export interface FoundCommit extends FoundRef {
  readonly commit: Commit
}
