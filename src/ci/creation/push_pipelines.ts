import { findProjectAs } from '../../core/places/project_roles.ts'
import { pushedOptions, pushedRefs, type PushedRefs } from '../../core/pushes/pipeline_requests.ts'
import { repositoryPath } from '../../core/places/projects.ts'
import * as users from '../../core/people/users.ts'
import type { Instance } from '../../instance.ts'
import { enqueue, type Job, type Once } from '../../jobs/job.ts'
import { createForBranch } from './merge_request_pipelines.ts'
import { preparePipeline } from './creation.ts'
import type { PipelineRequest } from './pipeline_request.ts'
import { openVariables } from './sealed_variables.ts'
import { insertPrepared, insertRefused } from './pipeline_insertion.ts'

const HEADS = 'refs/heads/'

/**
 * Creates the pipelines of a push in the name of its user: one for each branch and tag that it moved, and those of merge
 * requests from these branches.
 */
export const createPushPipelines: Job<PushedRefs> = {
  ...pushedRefs,
  run: async (instance, { project_id, user_id, moves, options, after }, once = async () => true) => {
    const [project, user] = [
      await findProjectAs(instance.db, project_id, user_id),
      await users.find(instance.db, user_id),
    ]
    if (project === undefined || user === undefined) return
    const sealed = options?.sealed_variables
    const variables = openVariables(
      instance.vault,
      sealed === undefined ? null : Buffer.from(sealed, 'base64'),
    )
    const repository = instance.git.repository(repositoryPath(project_id))
    for (const { ref, from, to } of moves) {
      const sha = await repository.resolve(to)
      if (sha === undefined) continue
      const before = from === null ? {} : { before: from }
      const { none = false, skips = false } = options ?? {}
      const request = { project, user, ref, sha, source: 'push' as const, variables, skips, ...before }
      if (!none) await createOnce(instance, request, once)
      const branch = ref.startsWith(HEADS) ? ref.slice(HEADS.length) : undefined
      if (branch !== undefined) await createForBranch(instance, { project_id, branch, sha }, user)
    }
    if (after !== undefined)
      await instance.db.transaction(async (tx) => {
        if (await once(tx, 'options')) await enqueue(tx, pushedOptions, after)
      })
  },
}

/** A run that was cut short is begun anew: each ref gets its pipeline once. */
async function createOnce(instance: Instance, request: PipelineRequest, once: Once): Promise<void> {
  const outcome = await preparePipeline(instance, request)
  await instance.db.transaction(async (tx) => {
    if (!(await once(tx, `${request.ref} ${request.sha ?? ''}`))) return
    if ('prepared' in outcome) await insertPrepared(tx, instance, outcome.prepared)
    else await insertRefused(tx, request, outcome.refusal)
  })
}
