import { Type as t } from 'typebox'
import { digestOf } from '../../access/tokens.ts'
import { PAYLOAD } from '../../ci/creation/creation_checks.ts'
import { preparePipeline, type Prepared } from '../../ci/creation/creation.ts'
import { insertPrepared } from '../../ci/creation/pipeline_insertion.ts'
import type { Variable } from '../../ci/config/plan.ts'
import { findByRef } from '../../core/places/projects.ts'
import { checks, loads, type Gate, type Has } from '../../http/gate.ts'
import { operation } from '../../http/operation.ts'
import { forbidden, invalid, Problem, refused } from '../../http/problems.ts'
import { filled } from '../../http/params/schema.ts'
import type { Project } from '../../db/schema/tables.ts'
import { PipelineDetail, presentPipelineDetail } from '../../records/jobs/pipeline_detail.ts'
import { bearerOf, type TriggerBearer } from './bearer.ts'
import * as triggerTokens from './store.ts'

/** One 404 for missing projects and for those that the token does not open, in the capitals of explicit checks. */
const nothingThere = (): Problem => new Problem(404, { message: '404 Not Found' })

/** A pipeline's webhook must not trigger pipelines: each would be the cause of the next. */
const noPipelineHook = checks({
  says: 'a request that is not a webhook of a pipeline',
  refuses: forbidden,
  holds: ({ header }) =>
    [header('x-gitlab-event'), header('x-svc-event')].every((event) => event !== 'Pipeline Hook'),
})

interface Sent {
  readonly ref: string
  readonly token: string
  readonly variables?: Readonly<Record<string, unknown>>
}
const badVariables = (): Problem => refused('variables needs to be a map of key-valued strings')

const textVariables = checks({
  says: 'variables with text values',
  refuses: badVariables,
  holds: ({ params }: Has<{ params: Sent }>) =>
    Object.values(params.variables ?? {}).every((value) => typeof value === 'string'),
})

const target = loads({
  param: 'id',
  type: t.String({ description: 'The id or the URL-encoded full path of the project' }),
  as: 'target',
  says: 'a project',
  missing: nothingThere,
  find: ({ db }, ref) => findByRef(db, ref),
})

const bearsToken: Gate<'allows', never, { target: Project; params: Sent }, { bearer: TriggerBearer }> = {
  kind: 'allows',
  says: 'the trigger token of the project, or the token of a running job whose user sees it',
  refuses: nothingThere,
  pass: async ({ db, target, params }) => {
    const bearer = await bearerOf(db, digestOf(params.token), target.id)
    return bearer && { bearer }
  },
}

const notMade = (text = 'Reference not found'): Problem => invalid({ base: [text] })

type Wanting = { target: Project; bearer: TriggerBearer; params: Sent }
/** Git and the configuration are read before there is a transaction. */
const planned: Gate<'checks', never, Wanting, { prepared: Prepared }> = {
  kind: 'checks',
  says: 'a pipeline that the user of the token may create there',
  refuses: notMade,
  pass: async (ctx) => {
    const { target, bearer, params } = ctx
    const { token: _, ...payload } = params
    const variables: Variable[] = Object.entries(params.variables ?? {}).map(([key, value]) => ({
      key,
      value: String(value),
    }))
    const outcome = await preparePipeline(ctx, {
      project: bearer.project,
      user: bearer.user,
      ref: params.ref,
      source: bearer.jobId === undefined ? 'trigger' : 'pipeline',
      variables: [
        ...variables,
        { key: PAYLOAD, value: JSON.stringify({ ...payload, id: String(target.id) }), file: true },
      ],
      ...(bearer.jobId !== undefined && { source_job_id: bearer.jobId }),
    })
    if ('refusal' in outcome) throw notMade(outcome.refusal.text)
    return { prepared: outcome.prepared }
  },
}

const params = {
  token: t.String({ description: 'A trigger token of the project, or the token of a running job' }),
  variables: t.Optional(t.Record(t.String(), t.Unknown(), { description: 'Texts by name' })),
}
const gates = [noPipelineHook, textVariables, target, bearsToken, planned] as const

type Ready = Has<Wanting & { prepared: Prepared }>
async function create(ctx: Ready): Promise<ReturnType<typeof presentPipelineDetail>> {
  const { db, bearer, prepared, target } = ctx
  if (bearer.tokenId !== undefined) await triggerTokens.touch(db, target.id, bearer.tokenId)
  const row = await insertPrepared(db, ctx, prepared)
  return presentPipelineDetail({ ...row, user: bearer.user, coverage: null }, target, ctx)
}

export const createTriggeredPipeline = operation({
  method: 'POST',
  path: '/projects/:id/trigger/pipeline',
  summary: 'Start a pipeline with a trigger token or the token of a job',
  published: true,
  params: t.Object({ ref: filled(), ...params }),
  gates,
  handle: create,
  returns: PipelineDetail,
})

export const createTriggeredPipelineOnRef = operation({
  method: 'POST',
  path: '/projects/:id/ref/:ref/trigger/pipeline',
  summary: 'Start a pipeline on the branch or tag in the address',
  published: true,
  params: t.Object({ ref: filled(), ...params }),
  gates,
  handle: create,
  returns: PipelineDetail,
})
