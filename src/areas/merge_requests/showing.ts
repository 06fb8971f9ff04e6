import type { Static } from 'typebox'
import { findHeadPipeline } from '../../core/head_pipelines.ts'
import { seesPipelines } from '../../core/project_features.ts'
import type { Project } from '../../core/projects.ts'
import type { Has } from '../../http/gate.ts'
import type { MergeRequestShown } from '../../records/merge_request.ts'
import { presentMergeRequestDetail, type MergeRequestDetail } from '../../records/merge_request_detail.ts'
import { presentPipeline } from '../../records/pipeline.ts'
import { mayMergeIt } from './gates.ts'

interface More {
  readonly diverged?: number | undefined
  readonly rebasing?: boolean
}

/** A merge request by itself for the caller, with what they may do with it and see of what ran for it. */
export async function presentToCaller(
  ctx: Has<{ project: Project }>,
  row: MergeRequestShown,
  more: More = {},
): Promise<Static<typeof MergeRequestDetail>> {
  const { db, actor, project } = ctx
  const sha = seesPipelines(actor, project) ? row.head_sha : null
  const found = sha === null ? undefined : await findHeadPipeline(db, row.id, sha)
  const pipeline = found ? presentPipeline(found, project, ctx) : null
  const canMerge = await mayMergeIt({ ...ctx, mergeRequest: row })
  return presentMergeRequestDetail(row, ctx, { canMerge, pipeline, ...more })
}
