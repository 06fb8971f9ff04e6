import { anyone, developer, project, signedIn } from '../../../access/gates/gates.ts'
import { mergeRequest } from '../../../access/gates/noteable_gates.ts'
import { preparePipeline, type Prepared } from '../../../ci/creation/creation.ts'
import { requestFor } from '../../../ci/creation/merge_request_pipelines.ts'
import { insertPrepared } from '../../../ci/creation/pipeline_insertion.ts'
import { seesPipelines } from '../../../core/places/project_features.ts'
import * as users from '../../../core/people/users.ts'
import type { User } from '../../../db/schema/tables.ts'
import type { MergeRequest } from '../../../db/schema/planning.ts'
import type { Actor, Gate } from '../../../http/gate.ts'
import { operation, pageOf } from '../../../http/operation.ts'
import { presentPage } from '../../../http/answers/pages.ts'
import { invalid, rejected, unauthorized, type Problem } from '../../../http/problems.ts'
import { Pipeline, presentPipeline } from '../../../records/pipelines/pipeline.ts'
import { PipelineDetail, presentPipelineDetail } from '../../../records/jobs/pipeline_detail.ts'
import { listPipelinesOf } from './store.ts'
import { forkOf } from '../showing.ts'

export const listMergeRequestPipelines = operation({
  method: 'GET',
  path: '/projects/:id/merge_requests/:merge_request_iid/pipelines',
  summary: 'List the pipelines of a merge request, newest first',
  published: true,
  gates: [project, anyone, mergeRequest],
  handle: async (ctx) => {
    const { db, actor, project, mergeRequest, page } = ctx
    if (!seesPipelines(actor, project)) return { items: [], total: 0 }
    const fork = await forkOf(ctx, mergeRequest)
    const of = { id: mergeRequest.id, project_id: project.id, fork_id: fork?.id ?? null }
    const found = await listPipelinesOf(db, of, page)
    return presentPage(found, (row) =>
      presentPipeline(row, row.project_id === fork?.id ? fork : project, ctx),
    )
  },
  returns: pageOf(Pipeline),
})

const notMade = (text = 'Insufficient permissions to create a new pipeline'): Problem =>
  invalid({ base: [text] })
const nothingToRun = (): Problem => rejected('405 Method Not Allowed')

/** Git and the configuration are read before there is a transaction. */
const planned: Gate<
  'checks',
  never,
  { mergeRequest: MergeRequest; actor: Actor },
  { prepared: Prepared; user: User }
> = {
  kind: 'checks',
  says: 'a pipeline that the caller may create for the merge request',
  refuses: notMade,
  pass: async (ctx) => {
    const user = await users.find(ctx.db, ctx.actor.id)
    if (user === undefined) throw unauthorized()
    const request = await requestFor(ctx.db, ctx.mergeRequest.id, user)
    if (request === undefined) throw nothingToRun()
    const outcome = await preparePipeline(ctx, request)
    if ('refusal' in outcome) throw notMade(outcome.refusal.text)
    return { prepared: outcome.prepared, user }
  },
}

export const createMergeRequestPipeline = operation({
  method: 'POST',
  path: '/projects/:id/merge_requests/:merge_request_iid/pipelines',
  summary: 'Start a pipeline for the head of a merge request',
  published: true,
  first: [signedIn],
  gates: [project, developer, mergeRequest, planned],
  handle: async (ctx) => {
    const { prepared, user } = ctx
    const row = await insertPrepared(ctx.db, ctx, prepared)
    return presentPipelineDetail({ ...row, user, coverage: null }, prepared.request.project, ctx)
  },
  returns: PipelineDetail,
  status: 200,
  refuses: [nothingToRun],
})
