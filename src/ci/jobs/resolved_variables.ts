import { isFrozen } from '../../core/delivery/freeze_periods.ts'
import { findProjectAs } from '../../core/places/project_roles.ts'
import type { Commit } from '../../git/objects/commit.ts'
import type { Instance } from '../../instance.ts'
import type { Variable } from '../config/plan.ts'
import { mergeRequestVariables } from '../creation/merge_request_facts.ts'
import { predefinedVariables } from '../creation/predefined.ts'
import { openVariables } from '../creation/sealed_variables.ts'
import { variablesFor, type SecretVariable } from '../creation/variables.ts'
import type { Dependency, JobDetail } from './store_detail.ts'
import { jobVariables, type JobVariable } from './variables.ts'

interface Given {
  /** Of the pipeline. */
  readonly commit: Commit
  readonly dependencies: readonly Dependency[]
  readonly token: string
  /** Variables of the runner. */
  readonly runner: readonly Variable[]
}

/** All variables of a job that starts now, a later one of the same name winning. */
export async function resolveVariables(
  instance: Pick<Instance, 'db' | 'vault' | 'config'>,
  detail: JobDetail,
  { commit, dependencies, token, runner }: Given,
): Promise<JobVariable[]> {
  const { db, vault, config } = instance
  const { job, pipeline, project } = detail
  const facts = {
    ...pipeline,
    merge_request: pipeline.merge_request_id !== null,
    frozen: await isFrozen(db, job.project_id, new Date()),
  }
  return jobVariables(detail, {
    config,
    token,
    predefined: [
      ...predefinedVariables(config, project, facts, commit),
      ...(await mergeRequestVariables(instance, pipeline)),
      ...runner,
    ],
    dotenv: dependencies.flatMap((one) => openVariables(vault, one.dotenv)),
    secrets: await secretsOf(instance, detail),
    pipeline: [...openVariables(vault, pipeline.variables), ...openVariables(vault, job.variables)],
  })
}

/** The variables of instance, groups and project that the job sees; protected ones only on a protected ref. */
async function secretsOf(
  instance: Pick<Instance, 'db' | 'vault'>,
  detail: JobDetail,
): Promise<readonly SecretVariable[]> {
  const project = await findProjectAs(instance.db, detail.project.id, detail.job.user_id)
  if (project === undefined) return []
  const scope = { project, protected: detail.job.protected }
  return variablesFor(instance, scope, detail.environment?.name ?? null)
}
