import { limitOf } from '../core/plan_limits.ts'
import { findProjectAs } from '../core/project_roles.ts'
import { findByRef, repositoryPath, type Project } from '../core/projects.ts'
import { pushRules } from '../core/protected_branches.ts'
import { ROLES } from '../core/roles.ts'
import type { User } from '../db/schema.ts'
import type { Commit } from '../git/objects/commit.ts'
import type { Repository } from '../git/repository.ts'
import type { Instance } from '../instance.ts'
import { compileConfig } from './config/compile.ts'
import type { CompileContext } from './config/context.ts'
import type { PipelineSource, PlannedPipeline, Variable } from './config/plan.ts'
import { planPipeline } from './config/plan_pipeline.ts'
import { checkRequest, findRef, type FoundRef } from './creation_checks.ts'
import { configPath, predefinedVariables, userVariables, variablesOf } from './predefined.ts'
import { secretsFor } from './variables.ts'
import { changedPathsOf, filesAt } from './repository_files.ts'

export const NO_COMMIT = '0'.repeat(40)

/** A pipeline that is wanted. */
export interface PipelineRequest {
  /** With the role that the user holds on it. */
  readonly project: Project
  readonly user: User
  /** A branch or tag, with or without `refs/heads/` and `refs/tags/`. */
  readonly ref: string
  readonly source: PipelineSource
  readonly variables: readonly Variable[]
  /** Of a push: the commit that the branch was at before. */
  readonly before?: string
  /** Of a push: the commit that the branch was moved to, wherever it is now. */
  readonly sha?: string
  /** The job whose token or bridge asks for it. */
  readonly source_job_id?: number
  readonly merge_request?: { readonly id: number; readonly iid: number; readonly base_sha: string }
}

/** Why there will be no pipeline. One that is `kept` is a row nevertheless, where a push asked for it. */
export interface Refusal {
  readonly text: string
  readonly kept: 'config_error' | 'skipped' | undefined
  readonly commit?: FoundCommit
}
interface FoundCommit extends FoundRef {
  readonly commit: Commit
}
export interface Prepared {
  readonly request: PipelineRequest
  readonly found: FoundCommit
  readonly plan: PlannedPipeline
  readonly created_at: Date
}

const refuse = (
  text: string,
  kept?: Refusal['kept'],
  commit?: FoundCommit,
): { readonly refusal: Refusal } => ({
  refusal: { text, kept, ...(commit && { commit }) },
})
type Outcome = { readonly refusal: Refusal } | { readonly prepared: Prepared }

const SKIPS = /\[(?:ci[ _-]skip|skip[ _-]ci)\]/i
/** Whoever asks in person gets the pipeline, whatever the message says. */
const HEEDS_MESSAGE: ReadonlySet<PipelineSource> = new Set(['push', 'merge_request_event'])

/**
 * Reads and plans a pipeline, in the published order of checks. Git and the configuration are read here, outside of any
 * transaction; `insertPrepared` writes.
 */
export async function preparePipeline(instance: Instance, request: PipelineRequest): Promise<Outcome> {
  const { project, source } = request
  const repository = instance.git.repository(repositoryPath(project.id))
  const rules = await pushRules(instance.db, project)
  const fault = checkRequest(request, rules)
  if (fault !== undefined) return refuse(fault)
  const ref = await findRef(repository, request, rules)
  if (typeof ref === 'string') return refuse(ref)
  const commit = await repository.commit(ref.sha)
  if (commit === undefined) return refuse('Commit not found')
  const found = { ...ref, commit }
  if (HEEDS_MESSAGE.has(source) && SKIPS.test(commit.message)) return refuse('', 'skipped', found)
  return plan(instance, { request, repository, found })
}

interface Work {
  readonly request: PipelineRequest
  readonly repository: Repository
  readonly found: FoundCommit
}

async function plan(instance: Instance, { request, repository, found }: Work): Promise<Outcome> {
  const { project, source, user } = request
  const created_at = new Date()
  const files = filesAt(repository, project.full_path, found.sha)
  const path = configPath(project)
  const content = await files.read(path)
  if (content === undefined) return refuse('Missing CI config file')
  const facts = {
    ...found,
    before_sha: request.before ?? NO_COMMIT,
    source,
    created_at,
    merge_request: false,
  }
  const predefined = [
    ...predefinedVariables(instance.config, project, facts, found.commit),
    ...mergeVariables(request),
  ]
  const changedPaths = changedPathsOf(repository, found.sha, baseOf(request))
  const openProject = opener(instance, user)
  const secret = await secretsFor(instance, { project, protected: found.protected })
  const compiled = await compileConfig(
    { content, path },
    { files, openProject, changedPaths, variables: [...predefined, ...secret(null), ...request.variables] },
  )
  if ('errors' in compiled) return refuse(compiled.errors.join(', '), 'config_error', found)
  const planned = await planPipeline(compiled, {
    source,
    ref: found.ref,
    tag: found.tag,
    project: project.full_path,
    variables: {
      predefined: [...predefined, ...userVariables(user)],
      secret,
      pipeline: request.variables,
    },
    changedPaths,
    files,
    openProject,
    limits: await limitsOf(instance, project),
  })
  if ('errors' in planned)
    return refuse(
      planned.errors.join(', '),
      planned.reason === 'config_error' ? 'config_error' : undefined,
      found,
    )
  return { prepared: { request, found, plan: planned.plan, created_at } }
}

async function limitsOf(
  { db }: Pick<Instance, 'db'>,
  project: Project,
): Promise<{ readonly pipeline_size: number; readonly needs: number }> {
  const size = await limitOf(db, project, 'ci_pipeline_size')
  return {
    pipeline_size: Number.isFinite(size) ? size : 0,
    needs: await limitOf(db, project, 'ci_needs_size_limit'),
  }
}

/** The commit whose difference to the pipeline's is what changed; null where there is none, as in a new branch. */
function baseOf({ before, merge_request, source }: PipelineRequest): string | null {
  if (merge_request !== undefined) return merge_request.base_sha
  return source === 'push' && before !== undefined && before !== NO_COMMIT ? before : null
}

const mergeVariables = ({ merge_request }: PipelineRequest): Variable[] =>
  merge_request === undefined
    ? []
    : variablesOf({
        CI_MERGE_REQUEST_ID: merge_request.id,
        CI_MERGE_REQUEST_IID: merge_request.iid,
        CI_MERGE_REQUEST_REF_PATH: `refs/merge-requests/${merge_request.iid}/head`,
        CI_MERGE_REQUEST_EVENT_TYPE: 'detached',
        CI_MERGE_REQUEST_DIFF_BASE_SHA: merge_request.base_sha,
      })

/** Files of other projects, as far as the user may read their code. */
const opener =
  (instance: Instance, user: User): CompileContext['openProject'] =>
  async (path, ref) => {
    const named = path.includes('/') ? await findByRef(instance.db, path) : undefined
    const project = named && (await findProjectAs(instance.db, named.id, user.id))
    const isOpen =
      project !== undefined &&
      project.repository_access_level !== 'disabled' &&
      (user.admin ||
        project.role >= ROLES.reporter ||
        (project.repository_access_level === 'enabled' &&
          (project.visibility === 'public' || (project.visibility === 'internal' && !user.external))))
    if (!isOpen) return 'project'
    const repository = instance.git.repository(repositoryPath(project.id))
    const sha = await repository.resolve(ref ?? project.default_branch ?? 'HEAD')
    return sha === undefined ? 'ref' : filesAt(repository, project.full_path, sha)
  }
