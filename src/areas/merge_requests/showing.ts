import type { Static } from 'typebox'
import { findHeadPipeline } from '../../core/delivery/head_pipelines.ts'
import { mayReadCode } from '../../access/gates/gates.ts'
import { seesPipelines } from '../../core/places/project_features.ts'
import { findProjectAs } from '../../core/places/project_roles.ts'
import type { Project } from '../../core/places/projects.ts'
import { ROLES, canSee } from '../../core/sight/roles.ts'
import type { MergeRequest } from '../../db/schema/planning.ts'
import type { Has } from '../../http/gate.ts'
import type { MergeRequestShown } from '../../records/merge_requests/merge_request.ts'
import {
  presentMergeRequestDetail,
  type MergeRequestDetail,
} from '../../records/merge_requests/merge_request_detail.ts'
import { presentPipeline } from '../../records/pipelines/pipeline.ts'
import { mayMergeIt } from './gates.ts'

interface More {
  readonly diverged?: number | undefined
  readonly rebasing?: boolean
}

/** The fork that it comes from, where the caller sees what runs there. */
export async function forkOf(
  { db, actor }: Pick<Has<object>, 'db' | 'actor'>,
  { project_id, source_project_id: id }: Pick<MergeRequest, 'project_id' | 'source_project_id'>,
): Promise<Project | undefined> {
  if (id === null || id === project_id) return undefined
  const fork = await findProjectAs(db, id, actor?.id ?? null)
  const shows =
    fork !== undefined &&
    canSee(actor, fork.visibility, fork.role, ROLES.guest) &&
    mayReadCode(actor, fork) &&
    seesPipelines(actor, fork)
  return shows ? fork : undefined
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
  const place = found === undefined || found.project_id === project.id ? project : await forkOf(ctx, row)
  const pipeline = found && place ? presentPipeline(found, place, ctx) : null
  const canMerge = await mayMergeIt({ ...ctx, mergeRequest: row })
  return presentMergeRequestDetail(row, ctx, { canMerge, pipeline, ...more })
}
