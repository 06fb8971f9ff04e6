import { Type as t } from 'typebox'
import { project, signedIn } from '../../access/gates/gates.ts'
import { readsPipelines } from '../../access/gates/pipeline_gates.ts'
import { openVariables } from '../../ci/creation/sealed_variables.ts'
import { repositoryPath, type Project } from '../../core/places/projects.ts'
import { ROLES } from '../../core/sight/roles.ts'
import { allows, type Actor, type Gate, type Has } from '../../http/gate.ts'
import { operation, pageOf } from '../../http/operation.ts'
import { forbidden } from '../../http/problems.ts'
import { nullable, oneOf, timestamp } from '../../http/params/schema.ts'
import {
  PipelineDetail,
  presentPipelineDetail,
  type PipelineWithUser,
} from '../../records/jobs/pipeline_detail.ts'
import { Pipeline, presentPipeline } from '../../records/pipelines/pipeline.ts'
import { FILTERS, type FilterName, type Filters } from './filters.ts'
import { pipeline } from './gates.ts'
import * as pipelines from './store.ts'

const STATUSES = [
  ...([
    'created',
    'waiting_for_resource',
    'preparing',
    'waiting_for_callback',
    'pending',
    'running',
  ] as const),
  ...(['canceling', 'success', 'failed', 'canceled', 'skipped', 'manual', 'scheduled'] as const),
] as const
const PREFIXES = { branches: 'refs/heads/', tags: 'refs/tags/' } as const

export const listPipelines = operation({
  method: 'GET',
  path: '/projects/:id/pipelines',
  summary: 'List the pipelines of a project',
  published: true,
  params: t.Object({
    scope: t.Optional(
      oneOf(['running', 'pending', 'finished', 'branches', 'tags'], {
        description: '`branches` and `tags`: the latest pipeline of each branch or tag',
      }),
    ),
    status: t.Optional(oneOf(STATUSES)),
    ref: t.Optional(t.String()),
    sha: t.Optional(t.String()),
    source: t.Optional(t.String()),
    name: t.Optional(t.String()),
    username: t.Optional(t.String({ description: 'Who started it' })),
    yaml_errors: t.Optional(t.Boolean({ description: 'Whether its configuration is wrong' })),
    created_after: t.Optional(timestamp()),
    created_before: t.Optional(timestamp()),
    updated_after: t.Optional(timestamp()),
    updated_before: t.Optional(timestamp()),
    order_by: oneOf(['id', 'status', 'ref', 'updated_at', 'user_id'], { default: 'id' }),
    sort: oneOf(['asc', 'desc'], { default: 'desc' }),
  }),
  gates: [project, readsPipelines],
  handle: async (ctx) => {
    const { db, git, project, params, page } = ctx
    const { scope, order_by, sort, ...given } = params
    const values: { -readonly [Name in FilterName]?: Filters[Name] } = { ...given }
    if (scope === 'branches' || scope === 'tags') {
      const repository = git.repository(repositoryPath(project.id))
      const isThere = await repository.exists()
      const refs = isThere ? await repository.sortedRefs(PREFIXES[scope], { by: 'name' }) : []
      values[scope] = refs.map(({ name }) => name.slice(PREFIXES[scope].length))
    } else if (scope !== undefined) values[scope] = true
    const filters = FILTERS.filter((name) => values[name] !== undefined)
    const { items, total } = await pipelines.list(
      db,
      { by: order_by, desc: sort === 'desc', filters },
      { ...values, project_id: project.id, limit: page.limit, offset: page.offset },
    )
    return {
      items: items.map((row) => Object.assign(presentPipeline(row, project, ctx), { name: row.name })),
      total,
    }
  },
  returns: pageOf(t.Object({ ...Pipeline.properties, name: nullable(t.String()) })),
})

type AtRef = { project: Project; params: { readonly ref?: string } }
/** To callers without such a pipeline it is forbidden, as published. */
const latest: Gate<'checks', never, AtRef, { pipeline: PipelineWithUser }> = {
  kind: 'checks',
  says: 'a pipeline of the newest commit of the branch or tag',
  refuses: forbidden,
  pass: async ({ db, git, project, params }) => {
    const ref = params.ref ?? project.default_branch ?? ''
    const repository = git.repository(repositoryPath(project.id))
    if (ref === '' || !(await repository.exists())) return undefined
    const sha = (await repository.ref(`refs/heads/${ref}`)) ?? (await repository.resolve(`refs/tags/${ref}`))
    const found = sha && (await pipelines.findLatest(db, { project_id: project.id, ref, sha }))
    return found ? { pipeline: found } : undefined
  },
}

export const getLatestPipeline = operation({
  method: 'GET',
  path: '/projects/:id/pipelines/latest',
  summary: 'Get the newest pipeline of the newest commit of a branch or tag',
  published: true,
  params: t.Object({
    ref: t.Optional(t.String({ description: 'A branch or tag; the default branch without it' })),
  }),
  gates: [project, readsPipelines, latest],
  handle: async (ctx) => presentPipelineDetail(ctx.pipeline, ctx.project, ctx),
  returns: PipelineDetail,
})

export const getPipeline = operation({
  method: 'GET',
  path: '/projects/:id/pipelines/:pipeline_id',
  summary: 'Get a pipeline',
  published: true,
  gates: [project, readsPipelines, pipeline],
  handle: async (ctx) => presentPipelineDetail(ctx.pipeline, ctx.project, ctx),
  returns: PipelineDetail,
})

/** Values of pipeline variables may be secrets of the user who gave them. */
const readsVariables = allows({
  says: 'a Maintainer, or the Developer who started the pipeline',
  refuses: forbidden,
  holds: ({
    actor,
    project,
    pipeline,
  }: Has<{ actor: Actor; project: Project; pipeline: PipelineWithUser }>) =>
    actor.admin ||
    project.role >= ROLES.maintainer ||
    (project.role >= ROLES.developer && pipeline.user_id === actor.id),
})

export const listPipelineVariables = operation({
  method: 'GET',
  path: '/projects/:id/pipelines/:pipeline_id/variables',
  summary: 'List the variables that a pipeline was started with',
  published: true,
  first: [signedIn],
  gates: [project, readsPipelines, pipeline, readsVariables],
  handle: async ({ pipeline, vault }) =>
    openVariables(vault, pipeline.variables).map(({ key, value, file, raw }) => ({
      variable_type: file === true ? 'file' : 'env_var',
      key,
      value,
      raw: raw === true,
    })),
  returns: t.Array(
    t.Object({ variable_type: t.String(), key: t.String(), value: t.String(), raw: t.Boolean() }),
  ),
})
