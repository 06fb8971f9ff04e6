import { actsBy } from '../../../access/acting.ts'
import { headPipelineStatus, isUnfinished } from '../../../core/delivery/head_pipelines.ts'
import { findOpenRequest, type OpenRequest } from '../../../core/merge_requests/rows.ts'
import { BRANCH_BY_COMMAND, type CommandedBranch } from '../../../core/quick_actions/moves.ts'
import type { Db } from '../../../db/db.ts'
import { Problem } from '../../../http/problems.ts'
import type { Job } from '../../../jobs/job.ts'
import { mergeMergeRequest } from './merge_operations.ts'
import { rebaseMergeRequest } from './rebase_operations.ts'
import { findProject, noteMergeError } from '../store.ts'

const acts = { merge: actsBy(mergeMergeRequest), rebase: actsBy(rebaseMergeRequest) }

/** Merges or rebases as `/merge` and `/rebase` asked; why that failed stands in `merge_error`. */
export const branchByCommand: Job<CommandedBranch> = {
  ...BRANCH_BY_COMMAND,
  run: async (instance, { command, merge_request_id, user_id }) => {
    const { db } = instance
    const request = await findOpenRequest(db, merge_request_id)
    const project = request && (await findProject(db, request.project_id, user_id))
    if (request === undefined || project === undefined) return
    const path = { id: String(project.id), merge_request_iid: String(request.iid) }
    const sent = command === 'merge' && (await runs(db, request)) ? { auto_merge: true } : {}
    await acts[command](instance, { user_id, project, path, sent }).catch(async (error: unknown) => {
      if (!(error instanceof Problem) || error.status >= 500) throw error
      await noteMergeError(db, merge_request_id, `The ${command} failed: ${String(error.body['message'])}`)
    })
  },
}

/** Whether its head pipeline is unfinished: then the merge waits, as published. */
const runs = async (db: Db, { id, head_sha }: OpenRequest): Promise<boolean> =>
  head_sha !== null && isUnfinished(await headPipelineStatus(db, id, head_sha))
