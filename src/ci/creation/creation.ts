import { repositoryPath } from '../../core/places/projects.ts'
import { pushRules } from '../../core/repositories/protected_branches.ts'
import type { Repository } from '../../git/repository.ts'
import type { Instance } from '../../instance.ts'
import { TOO_MANY_JOBS, TOO_MANY_PIPELINES, createsTooFast, hasTooManyJobs } from './creation_limits.ts'
import { compileConfig } from '../config/compile.ts'
import type { PipelineSource, PlannedPipeline } from '../config/plan.ts'
import { planPipeline } from '../config/planning/pipeline.ts'
import { checkRequest, findRef } from './creation_checks.ts'
import type { FoundCommit, PipelineRequest } from './pipeline_request.ts'
import { contextsOf } from './planning_context.ts'
import { configPath } from './predefined.ts'

/** Why there will be no pipeline. One that is `kept` is a row nevertheless, where a push asked for it. */
export interface Refusal {
  readonly text: string
  readonly kept:
    'config_error' | 'size_limit_exceeded' | 'job_activity_limit_exceeded' | 'skipped' | undefined
  readonly commit?: FoundCommit
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
/** Only these sources obey `[skip ci]`: a caller who asks for a pipeline gets it. */
const HEEDS_MESSAGE: ReadonlySet<PipelineSource> = new Set(['push', 'merge_request_event'])

/**
 * Reads and plans a pipeline, in the published order of checks. Git and the configuration are read here, outside of any
 * transaction; `insertPrepared` writes.
 */
export async function preparePipeline(instance: Instance, request: PipelineRequest): Promise<Outcome> {
  const { project, source, parent } = request
  const repository = instance.git.repository(repositoryPath(project.id))
  const rules = await pushRules(instance.db, project)
  const fault = checkRequest(request, rules)
  if (fault !== undefined) return refuse(fault)
  const ref = parent?.pipeline ?? (await findRef(repository, request, rules))
  if (typeof ref === 'string') return refuse(ref)
  const commit = await repository.commit(ref.sha)
  if (commit === undefined) return refuse('Commit not found')
  const found = { ref: ref.ref, tag: ref.tag, sha: ref.sha, protected: ref.protected, commit }
  if (parent === undefined && (await createsTooFast(instance.db, project.id, request.user.id, ref.sha)))
    return refuse(TOO_MANY_PIPELINES)
  const isSkipped = request.skips === true || (HEEDS_MESSAGE.has(source) && SKIPS.test(commit.message))
  if (isSkipped) return refuse('', 'skipped', found)
  return plan(instance, { request, repository, found })
}

interface Work {
  readonly request: PipelineRequest
  readonly repository: Repository
  readonly found: FoundCommit
}

async function plan(instance: Instance, work: Work): Promise<Outcome> {
  const { request, found } = work
  const created_at = new Date()
  const { compile, plan: planContext } = await contextsOf(instance, { ...work, created_at })
  const path = configPath(request.project)
  const content = request.parent?.content ?? (await compile.files.read(path))
  if (content === undefined) return refuse('Missing CI config file')
  const compiled = await compileConfig({ content, path }, compile)
  if ('errors' in compiled) return refuse(compiled.errors.join(', '), 'config_error', found)
  const planned = await planPipeline(compiled, planContext)
  if ('errors' in planned) {
    const { reason, errors } = planned
    const kept = reason === 'config_error' || reason === 'size_limit_exceeded' ? reason : undefined
    return refuse(errors.join(', '), kept, found)
  }
  if (await hasTooManyJobs(instance.db, request.project))
    return refuse(TOO_MANY_JOBS, 'job_activity_limit_exceeded', found)
  return { prepared: { request, found, plan: planned.plan, created_at } }
}
