import { Type as t } from 'typebox'
import { existing } from '../../db/rows.ts'
import { code, commit, readsPipelines, signedInHere } from '../../access/gates/code_gates.ts'
import { developer } from '../../access/gates/gates.ts'
import { inTurn } from '../../ci/turn.ts'
import { createPipeline } from '../../core/delivery/pipelines.ts'
import type { Project } from '../../core/places/projects.ts'
import type { Pipeline } from '../../db/schema/repositories.ts'
import type { Commit } from '../../git/objects/commit.ts'
import type { Repository } from '../../git/repository.ts'
import type { Actor, Gate, Has } from '../../http/gate.ts'
import { operation, pageOf } from '../../http/operation.ts'
import { invalid, notFound, refused, type Problem } from '../../http/problems.ts'
import { oneOf } from '../../http/params/schema.ts'
import { CommitStatus, present } from './entity.ts'
import { OPEN, STATES, stepFault, textFaults } from './rules.ts'
import * as statuses from './store.ts'
import { presentPage } from '../../http/answers/pages.ts'

/** The only stage there is outside of the service's own pipelines. */
const STAGE = 'external'

export const listCommitStatuses = operation({
  method: 'GET',
  path: '/projects/:id/repository/commits/:sha/statuses',
  summary: 'List the discussions of a commit',
  published: true,
  first: code,
  params: t.Object({
    ref: t.Optional(t.String()),
    stage: t.Optional(t.String()),
    name: t.Optional(t.String()),
    all: t.Boolean({ default: false, description: 'Earlier words about the same name too' }),
    pipeline_id: t.Optional(t.Integer()),
    order_by: oneOf(['id', 'pipeline_id'], { default: 'id' }),
    sort: oneOf(['asc', 'desc'], { default: 'asc' }),
  }),
  gates: [readsPipelines, commit],
  handle: async (ctx) => {
    const { db, project, commit, params, page } = ctx
    if (params.stage !== undefined && params.stage !== STAGE) return { items: [], total: 0 }
    const shape = {
      by: params.order_by,
      desc: params.sort === 'desc',
      all: params.all,
      named: params.name !== undefined,
      onRef: params.ref !== undefined,
      inPipeline: params.pipeline_id !== undefined,
    }
    const found = await statuses.listStatuses(db, shape, {
      project_id: project.id,
      sha: commit.id,
      name: params.name ?? '',
      ref: params.ref ?? '',
      pipeline_id: params.pipeline_id ?? 0,
      ...page,
    })
    return presentPage(found, (row) => present(row, ctx))
  },
  returns: pageOf(CommitStatus),
})

const noRef = (): Problem => notFound('References for commit')
const noPipeline = (): Problem => notFound('Pipeline')

interface Wanted {
  readonly ref?: string
  readonly name?: string
  readonly context?: string
  readonly target_url?: string
  readonly description?: string
}
type OnCommit = { readonly project: Project; readonly repository: Repository; readonly commit: Commit }

/** Git is asked before there is a transaction: no connection waits for it. */
const placed: Gate<'checks', never, OnCommit & { params: Wanted }, { ref: string; name: string }> = {
  kind: 'checks',
  says: 'a valid description and target, and a branch that contains the commit',
  refuses: noRef,
  pass: async ({ repository, project, commit, params }) => {
    const { target_url, description } = params
    const name = params.name ?? params.context ?? 'default'
    const faults = textFaults({ name, target_url, description })
    if (Object.keys(faults).length > 0) throw invalid(faults)
    const ref = await refOf({ repository, project, commit }, params.ref)
    return ref === undefined ? undefined : { ref, name }
  },
}

export const createCommitStatus = operation({
  method: 'POST',
  path: '/projects/:id/statuses/:sha',
  summary: 'Set the status of a commit',
  published: true,
  first: [...code, signedInHere],
  params: t.Object({
    state: oneOf(STATES),
    ref: t.Optional(
      t.String({ description: 'The branch or tag; a branch that holds the commit when absent' }),
    ),
    name: t.Optional(t.String({ description: 'What speaks; `default` when absent' })),
    context: t.Optional(t.String({ description: 'The same as `name`' })),
    target_url: t.Optional(t.String()),
    description: t.Optional(t.String()),
    coverage: t.Optional(t.Number()),
    pipeline_id: t.Optional(t.Integer()),
  }),
  gates: [developer, commit, placed],
  handle: async (ctx) => {
    const { db, project, params, ref, name } = ctx
    const row = await inTurn(db, project.id, async (turn) => {
      const pipeline = await pipelineOf(ctx, ref, params.pipeline_id)
      const before = await statuses.findLatest(db, { pipeline_id: pipeline.id, ref, name })
      const said = {
        project_id: project.id,
        status: params.state,
        target_url: params.target_url ?? null,
        description: params.description ?? null,
        coverage: params.coverage ?? null,
      }
      turn.touchPipeline(pipeline.id)
      return before !== undefined && OPEN.includes(before.status)
        ? step(ctx, before, said)
        : say(ctx, before, { ...said, pipeline_id: pipeline.id, ref, name })
    })
    return present(row, ctx)
  },
  returns: CommitStatus,
  refuses: [
    noPipeline,
    refused(stepFault('running', 'running') ?? ''),
    invalid({ target_url: ['is blocked: Only allowed schemes are http, https'] }),
  ],
})

type Here = Has<{ project: Project; commit: Commit; actor: Actor }>
type Said = Omit<Parameters<typeof statuses.changeStatus>[1], 'id'>
type New = Said & { readonly pipeline_id: number; readonly ref: string; readonly name: string }
type Row = NonNullable<Awaited<ReturnType<typeof statuses.insertStatus>>>

/** The name the status stands under: as given, or that of a branch which holds the commit. */
async function refOf(
  { repository, project, commit }: OnCommit,
  given: string | undefined,
): Promise<string | undefined> {
  if (given !== undefined && given !== '') return given.replace(/^refs\/(?:heads|tags)\//, '')
  const holding = await repository.refsContaining(commit.id, ['branch'])
  const names = holding.map((ref) => ref.name)
  return names.find((one) => one === project.default_branch) ?? names[0]
}

async function pipelineOf(
  { db, project, commit, actor }: Here,
  ref: string,
  id: number | undefined,
): Promise<Pipeline> {
  const place = { project_id: project.id, sha: commit.id }
  const found = await statuses.findPipeline(db, place, id === undefined ? { ref } : { id })
  if (found !== undefined) return found
  if (id !== undefined) throw noPipeline()
  return createPipeline(db, { ...place, ref, source: 'external', user_id: actor.id })
}

async function step(
  { db }: Here,
  before: { id: number; status: (typeof STATES)[number] },
  said: Said,
): Promise<Row> {
  const fault = stepFault(before.status, said.status)
  if (fault !== undefined) throw refused(fault)
  return existing(await statuses.changeStatus(db, { ...said, id: before.id }))
}

async function say(
  { db, project, commit, actor }: Here,
  before: { id: number } | undefined,
  said: New,
): Promise<Row> {
  if (before !== undefined) await statuses.retireStatus(db, project.id, before.id)
  return statuses.insertStatus(db, { ...said, sha: commit.id, author_id: actor.id })
}
