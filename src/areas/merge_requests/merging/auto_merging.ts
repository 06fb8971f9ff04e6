import { holdPipelines } from '../../../ci/turn.ts'
import { startAutoMerge } from '../../../core/merge_requests/auto_merges.ts'
import { headPipelineStatus, isUnfinished } from '../../../core/delivery/head_pipelines.ts'
import { lockMergeRequest } from '../../../core/merge_requests/writes.ts'
import type { Db } from '../../../db/db.ts'
import type { MergeRequestShown } from '../../../records/merge_requests/merge_request.ts'
import { otherHead } from '../rules.ts'

interface Wanted {
  readonly sha?: string | undefined
  readonly squash?: boolean | undefined
  readonly should_remove_source_branch?: boolean | undefined
  readonly merge_commit_message?: string | undefined
  readonly squash_commit_message?: string | undefined
}

/**
 * Lets a merge request that could be merged now wait for its head pipeline, where that is unfinished; says whether it
 * waits. The pipeline cannot finish in between, so that the turn that finishes it finds the row.
 */
export async function waitForPipeline(
  { db, actor }: { readonly db: Db; readonly actor: { readonly id: number } },
  shown: MergeRequestShown,
  wanted: Wanted,
  waitsFor: (status: string) => boolean = isUnfinished,
): Promise<boolean> {
  const isWaitedFor = async (tx: Db, sha: string): Promise<boolean> =>
    waitsFor(await headPipelineStatus(tx, shown.id, sha))
  const { id, project_id, source_project_id, head_sha } = shown
  if (head_sha === null || !(await isWaitedFor(db, head_sha))) return false
  if (wanted.sha !== undefined && wanted.sha !== head_sha) throw otherHead(head_sha)
  return db.transaction(async (tx) => {
    await holdPipelines(tx, [project_id, source_project_id ?? project_id])
    const now = await lockMergeRequest(tx, id)
    const stands =
      now?.state === 'opened' &&
      !now.draft &&
      now.head_sha === head_sha &&
      now.target_branch === shown.target_branch
    if (!stands || !(await isWaitedFor(tx, head_sha))) return false
    await startAutoMerge(tx, {
      merge_request_id: id,
      user_id: actor.id,
      head_sha,
      squash: wanted.squash ?? null,
      should_remove_source_branch: wanted.should_remove_source_branch ?? null,
      merge_commit_message: wanted.merge_commit_message ?? null,
      squash_commit_message: wanted.squash_commit_message ?? null,
    })
    return true
  })
}
