import { actsBy } from '../../../access/acting.ts'
import {
  AUTO_MERGE,
  findAutoMerge,
  giveUpRefused,
  type AutoMerge,
  type GivenUp,
} from '../../../core/merge_requests/auto_merges.ts'
import { headPipelineStatus, isUnfinished } from '../../../core/delivery/head_pipelines.ts'
import * as users from '../../../core/people/users.ts'
import { Problem } from '../../../http/problems.ts'
import type { Instance } from '../../../instance.ts'
import type { Job } from '../../../jobs/job.ts'
import { mergeMergeRequest } from './merge_operations.ts'
import { findProject } from '../store.ts'

const merge = actsBy(mergeMergeRequest)

/**
 * Merges what waits for its head pipeline, once that has succeeded, as its user would by the interface at this moment.
 * What is refused is given up. A run that was cut short is begun anew: the row is there until one of both is committed.
 */
export const mergeAfterPipeline: Job<{ readonly merge_request_id: number }> = {
  ...AUTO_MERGE,
  run: async (instance, { merge_request_id }) => {
    const { db } = instance
    const waiting = await findAutoMerge(db, merge_request_id)
    if (waiting === undefined) return
    const status = await headPipelineStatus(db, merge_request_id, waiting.head_sha)
    if (isUnfinished(status)) return
    const refused = status === 'success' ? await mergeNow(instance, waiting) : 'pipeline'
    if (refused === undefined) return
    await db.transaction((tx) => giveUpRefused(tx, { ...waiting, merge_request_id }, refused))
  },
}

async function mergeNow(instance: Instance, waiting: AutoMerge): Promise<GivenUp | undefined> {
  const { db } = instance
  const { user_id, project_id, iid, head_sha: sha } = waiting
  const user = user_id === null ? undefined : await users.find(db, user_id)
  const project = user && (await findProject(db, project_id, user.id))
  if (user?.state !== 'active' || project === undefined) return 'user'
  const path = { id: String(project_id), merge_request_iid: String(iid) }
  const { squash, should_remove_source_branch, merge_commit_message, squash_commit_message } = waiting
  const sent = {
    sha,
    auto_merge: true,
    ...(squash !== null && { squash }),
    ...(should_remove_source_branch !== null && { should_remove_source_branch }),
    ...(merge_commit_message !== null && { merge_commit_message }),
    ...(squash_commit_message !== null && { squash_commit_message }),
  }
  try {
    await merge(instance, { user_id: user.id, project, path, sent })
    return undefined
  } catch (error) {
    if (!(error instanceof Problem) || error.status >= 500) throw error
    return REASONS[error.status] ?? 'state'
  }
}

const REASONS: Readonly<Record<number, GivenUp>> = { 401: 'user', 403: 'user', 404: 'user', 409: 'source' }
