import { Type as t, type Static } from 'typebox'
import { writesPipeline } from '../../access/gates/pipeline_gates.ts'
import { developer, project, projectOwner, signedIn } from '../../access/gates/gates.ts'
import { preparePipeline, type Prepared } from '../../ci/creation/creation.ts'
import * as actions from '../../ci/pipeline_actions.ts'
import { insertPrepared } from '../../ci/creation/pipeline_insertion.ts'
import { inTurn } from '../../ci/turn.ts'
import type { Project } from '../../core/places/projects.ts'
import * as users from '../../core/people/users.ts'
import { existing } from '../../db/rows.ts'
import type { User } from '../../db/schema/tables.ts'
import type { Actor, Context, Gate, Has } from '../../http/gate.ts'
import { nothing, operation } from '../../http/operation.ts'
import { invalid, noSuchRecord, refused, unauthorized, type Problem } from '../../http/problems.ts'
import { filled, oneOf } from '../../http/params/schema.ts'
import { PipelineDetail, presentPipelineDetail } from '../../records/jobs/pipeline_detail.ts'
import { pipeline } from './gates.ts'
import * as pipelines from './store.ts'

const notMade = (text = 'Reference not found'): Problem => invalid({ base: [text] })

interface Wanted {
  readonly ref: string
  readonly variables?: readonly {
    readonly key: string
    readonly value: string
    readonly variable_type?: string
  }[]
}
/** Git and the configuration are read before there is a transaction. */
const planned: Gate<
  'checks',
  never,
  { project: Project; actor: Actor; params: Wanted },
  { prepared: Prepared; user: User }
> = {
  kind: 'checks',
  says: 'a pipeline that the caller may create there',
  refuses: notMade,
  pass: async (ctx) => {
    const user = await users.find(ctx.db, ctx.actor.id)
    if (user === undefined) throw unauthorized()
    const variables = (ctx.params.variables ?? []).map(({ key, value, variable_type }) => ({
      key,
      value,
      ...(variable_type === 'file' && { file: true }),
    }))
    const { project, params } = ctx
    const outcome = await preparePipeline(ctx, { project, user, ref: params.ref, source: 'api', variables })
    if ('refusal' in outcome) throw notMade(outcome.refusal.text)
    return { prepared: outcome.prepared, user }
  },
}

export const createPipeline = operation({
  method: 'POST',
  path: '/projects/:id/pipeline',
  summary: 'Start a pipeline on a branch or tag',
  published: true,
  first: [signedIn],
  params: t.Object({
    ref: filled(),
    variables: t.Optional(
      t.Array(
        t.Object({
          key: t.String(),
          value: t.String(),
          variable_type: t.Optional(oneOf(['env_var', 'file'])),
        }),
      ),
    ),
  }),
  gates: [project, developer, planned],
  handle: async (ctx) => {
    const row = await insertPrepared(ctx.db, ctx, ctx.prepared)
    return presentPipelineDetail({ ...row, user: ctx.user, coverage: null }, ctx.project, ctx)
  },
  returns: PipelineDetail,
})

type OnPipeline = Has<{ project: Project; pipeline: { readonly id: number } }>
async function show(ctx: OnPipeline & Context): Promise<Static<typeof PipelineDetail>> {
  const row = existing(await pipelines.find(ctx.db, ctx.project.id, ctx.pipeline.id))
  return presentPipelineDetail(row, ctx.project, ctx)
}

export const retryPipeline = operation({
  method: 'POST',
  path: '/projects/:id/pipelines/:pipeline_id/retry',
  summary: 'Retry the failed and canceled jobs of a pipeline',
  published: true,
  first: [signedIn],
  gates: [project, developer, pipeline, writesPipeline],
  handle: async (ctx) => {
    const { db, project, pipeline, actor } = ctx
    await inTurn(db, project.id, (turn) => actions.retryPipeline(turn, pipeline.id, actor.id))
    return show(ctx)
  },
  returns: PipelineDetail,
})

export const cancelPipeline = operation({
  method: 'POST',
  path: '/projects/:id/pipelines/:pipeline_id/cancel',
  summary: 'Cancel the jobs of a pipeline',
  published: true,
  first: [signedIn],
  gates: [project, developer, pipeline, writesPipeline],
  handle: async (ctx) => {
    const { db, project, pipeline } = ctx
    await inTurn(db, project.id, (turn) => actions.cancelPipeline(turn, pipeline.id))
    return show(ctx)
  },
  returns: PipelineDetail,
  status: 200,
})

export const deletePipeline = operation({
  method: 'DELETE',
  path: '/projects/:id/pipelines/:pipeline_id',
  summary: 'Delete a pipeline with its jobs and child pipelines',
  published: true,
  first: [signedIn],
  gates: [project, projectOwner, pipeline],
  handle: async ({ db, project, pipeline }) => {
    if (!(await inTurn(db, project.id, (turn) => actions.deletePipeline(turn, pipeline.id))))
      throw noSuchRecord()
    return null
  },
  returns: nothing,
})

const tooLongName = (): Problem => refused('400 Bad request - Name is too long (maximum is 255 characters)')

export const updatePipelineMetadata = operation({
  method: 'PUT',
  path: '/projects/:id/pipelines/:pipeline_id/metadata',
  summary: 'Change the name of a pipeline',
  published: true,
  jobTokens: true,
  first: [signedIn],
  params: t.Object({ name: t.String() }),
  gates: [project, developer, pipeline, writesPipeline],
  handle: async (ctx) => {
    const { db, pipeline, params } = ctx
    if (params.name.length > 255) throw tooLongName()
    await pipelines.rename(db, pipeline.id, params.name)
    return show(ctx)
  },
  returns: PipelineDetail,
  refuses: [tooLongName],
})
