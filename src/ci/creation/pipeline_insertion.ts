import { sql } from 'kysely'
import { wakeAutoMerges } from '../../core/merge_requests/auto_merges.ts'
import { createPipeline } from '../../core/delivery/pipelines.ts'
import type { Db } from '../../db/db.ts'
import { existing } from '../../db/rows.ts'
import type { Pipeline } from '../../db/schema/repositories.ts'
import { statement, type Slots } from '../../db/statement.ts'
import type { Instance } from '../../instance.ts'
import type { Prepared, Refusal } from './creation.ts'
import type { PipelineRequest } from './pipeline_request.ts'
import { insertJobs } from './insertion.ts'
import { askToCancelRedundant } from './redundant_pipelines.ts'
import { NO_COMMIT } from './planning_context.ts'
import { findPipeline } from '../pipeline_store.ts'
import { sealVariables } from './sealed_variables.ts'
import { inTurn, type Turn } from '../turn.ts'

type Kept = Pick<
  Pipeline,
  | 'before_sha'
  | 'tag'
  | 'protected'
  | 'name'
  | 'stages'
  | 'variables'
  | 'on_new_commit'
  | 'on_job_failure'
  | 'merge_request_id'
  | 'parent_id'
  | 'source_job_id'
  | 'schedule_id'
  | 'committed_at'
> & { readonly yaml_variables: string }

const keep = statement(
  (p: Slots<Kept & { id: number }>) => sql`
    update pipelines set before_sha = ${p.before_sha}, tag = ${p.tag}, protected = ${p.protected}, name = ${p.name},
           stages = ${p.stages}, variables = ${p.variables}, yaml_variables = ${p.yaml_variables}::jsonb,
           on_new_commit = ${p.on_new_commit}, on_job_failure = ${p.on_job_failure},
           merge_request_id = ${p.merge_request_id}, parent_id = ${p.parent_id},
           source_job_id = ${p.source_job_id}, schedule_id = ${p.schedule_id},
           committed_at = ${p.committed_at}
     where id = ${p.id}`,
)
/** Completes the row of a new pipeline with what its plan says. */
const keepPipeline = (db: Db, id: number, kept: Kept): Promise<number> => db.run(keep, { id, ...kept })

const end = statement(
  (
    p: Slots<{
      id: number
      status: string
      failure_reason: string | null
      yaml_errors: string | null
      tag: boolean
      before_sha: string
      merge_request_id: number | null
      parent_id: number | null
      source_job_id: number | null
    }>,
  ) => sql`
    update pipelines set status = ${p.status}, failure_reason = ${p.failure_reason}, yaml_errors = ${p.yaml_errors},
           tag = ${p.tag}, before_sha = ${p.before_sha}, merge_request_id = ${p.merge_request_id}, parent_id = ${p.parent_id},
           source_job_id = ${p.source_job_id}, finished_at = now()
     where id = ${p.id}`,
)
/** Ends a pipeline that has no jobs. */
const endWithoutJobs = (
  db: Db,
  values: {
    readonly id: number
    readonly status: 'failed' | 'skipped'
    readonly failure_reason: string | null
    readonly yaml_errors: string | null
    readonly tag: boolean
    readonly before_sha: string
    readonly merge_request_id: number | null
    readonly parent_id: number | null
    readonly source_job_id: number | null
  },
): Promise<number> => db.run(end, values)

/** Inserts a prepared pipeline with its jobs and starts what can start. Call inside a transaction. */
export const insertPrepared = (
  db: Db,
  { vault }: Pick<Instance, 'vault'>,
  prepared: Prepared,
): Promise<Pipeline> => inTurn(db, prepared.request.project.id, (turn) => insertInTurn(turn, vault, prepared))

/** The same inside a turn of the pipeline's project. */
export async function insertInTurn(
  turn: Turn,
  vault: Instance['vault'],
  prepared: Prepared,
): Promise<Pipeline> {
  const { request, found, plan: planned } = prepared
  const { project, user, source } = request
  const { id } = await createPipeline(turn.db, {
    project_id: project.id,
    sha: found.sha,
    ref: found.ref,
    source,
    user_id: user.id,
  })
  await keepPipeline(turn.db, id, {
    before_sha: request.before ?? NO_COMMIT,
    tag: found.tag,
    protected: found.protected,
    name: planned.name ?? null,
    stages: [...planned.stages],
    variables: sealVariables(vault, request.variables),
    yaml_variables: JSON.stringify(planned.variables),
    on_new_commit: planned.autoCancel.on_new_commit,
    on_job_failure: planned.autoCancel.on_job_failure,
    merge_request_id: request.merge_request?.id ?? null,
    parent_id: request.parent?.pipeline.id ?? null,
    source_job_id: request.source_job_id ?? null,
    schedule_id: request.schedule_id ?? null,
    committed_at: new Date(found.commit.committer.date.seconds * 1_000),
  })
  const of = { project_id: project.id, pipeline_id: id, user_id: user.id, protected: found.protected }
  const instance_runners = project.settings['shared_runners_enabled'] !== false
  await insertJobs(turn.db, { ...of, instance_runners }, planned.jobs)
  if (source !== 'parent_pipeline' && project.settings['auto_cancel_pending_pipelines'] !== 'disabled')
    await askToCancelRedundant(turn.db, project.id, { id, ref: found.ref, sha: found.sha })
  turn.touchPipeline(id)
  // As it was created: its jobs start when the turn ends.
  return existing(await findPipeline(turn.db, project.id, id))
}

/**
 * Keeps a pipeline that a push or bridge asked for and that has no jobs: a wrong configuration, a limit, or a commit that
 * skips it. Answers its id.
 */
export async function insertRefused(
  db: Db,
  request: PipelineRequest,
  refusal: Refusal,
): Promise<number | undefined> {
  const { kept, commit, text } = refusal
  if (kept === undefined || commit === undefined) return undefined
  const { project, user, source } = request
  return inTurn(db, project.id, async () => {
    const { id } = await createPipeline(db, {
      project_id: project.id,
      sha: commit.sha,
      ref: commit.ref,
      source,
      user_id: user.id,
    })
    await endWithoutJobs(db, {
      id,
      status: kept === 'skipped' ? 'skipped' : 'failed',
      failure_reason: kept === 'skipped' ? null : kept,
      yaml_errors: kept === 'config_error' ? text : null,
      tag: commit.tag,
      before_sha: request.before ?? NO_COMMIT,
      merge_request_id: request.merge_request?.id ?? null,
      parent_id: request.parent?.pipeline.id ?? null,
      source_job_id: request.source_job_id ?? null,
    })
    await wakeAutoMerges(db, [id])
    return id
  })
}
