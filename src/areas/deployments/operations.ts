import { existing } from '../../db/rows.ts'
import { Type as t, type Static } from 'typebox'
import { developer, maintainer, project, signedIn } from '../../access/gates/gates.ts'
import { readsEnvironments } from '../../access/gates/pipeline_gates.ts'
import { recordDeployments } from '../../ci/environments/deployments.ts'
import { linkMergeRequests } from '../../ci/environments/deployment_links.ts'
import { restartEnvironment } from '../../ci/environments/environments.ts'
import { inTurn, type Turn } from '../../ci/turn.ts'
import { environmentNameFaults, environmentSlug, guessTier } from '../../core/delivery/environments.ts'
import type { Project } from '../../core/places/projects.ts'
import type { Deployment as Row } from '../../db/schema/delivery.ts'
import { checks, loads, type Has } from '../../http/gate.ts'
import { nothing, operation, pageOf } from '../../http/operation.ts'
import { presentPage } from '../../http/answers/pages.ts'
import { forbidden, invalid, type Problem } from '../../http/problems.ts'
import { filled, oneOf, timestamp } from '../../http/params/schema.ts'
import { enqueue } from '../../jobs/job.ts'
import { DEPLOYMENT_STATUSES, Deployment, presentDeployments } from '../../records/jobs/deployment.ts'
import { MergeRequest, presentMergeRequest } from '../../records/merge_requests/merge_request.ts'
import { deployedCommit } from './gates.ts'
import * as rules from './rules.ts'
import * as deployments from './store.ts'

const common = { published: true, jobTokens: true, first: [signedIn] } as const

const deployment = loads({
  param: 'deployment_id',
  type: t.Integer(),
  as: 'deployment',
  says: 'a deployment of the project',
  find: ({ db, project }: Has<{ project: Project }>, id) =>
    deployments.find(db, { project_id: project.id, id }),
})

const ofJob = (): Problem => forbidden('Deployments created using GitLab CI can not be updated using the API')
const isOfNoJob = checks({
  says: 'a deployment that no job made',
  refuses: ofJob,
  holds: ({ deployment }: Has<{ deployment: Row }>) => deployment.job_id === null,
})

async function show(ctx: Has<{ project: Project }>, id: number): Promise<Static<typeof Deployment>> {
  const row = existing(await deployments.find(ctx.db, { project_id: ctx.project.id, id }))
  return existing((await presentDeployments(ctx, ctx.project, [row]))[0])
}

const moments = {
  updated_after: t.Optional(timestamp()),
  updated_before: t.Optional(timestamp()),
  finished_after: t.Optional(timestamp()),
  finished_before: t.Optional(timestamp()),
}

export const listDeployments = operation({
  ...common,
  method: 'GET',
  path: '/projects/:id/deployments',
  summary: 'List the deployments of a project',
  params: t.Object({
    order_by: oneOf(deployments.ORDERS, { default: 'id' }),
    sort: oneOf(['asc', 'desc'], { default: 'asc' }),
    ...moments,
    environment: t.Optional(t.String({ description: 'The name of an environment' })),
    status: t.Optional(oneOf(DEPLOYMENT_STATUSES)),
  }),
  gates: [project, readsEnvironments],
  handle: async (ctx) => {
    const { db, project, params, page } = ctx
    const { environment, status } = params
    const { timed, after, before } = rules.checkFilters(params)
    const shape = {
      by: params.order_by,
      desc: params.sort === 'desc',
      environment: environment !== undefined,
      status: status !== undefined,
      timed,
    }
    const values = { environment: environment ?? '', status: status ?? '', after, before, ...page }
    const { items, total } = await deployments.list(db, shape, { project_id: project.id, ...values })
    return { items: await presentDeployments(ctx, project, items), total }
  },
  returns: pageOf(Deployment),
  refuses: [rules.unpaired, rules.bothFilters, rules.notOfSuccess],
})

export const getDeployment = operation({
  ...common,
  method: 'GET',
  path: '/projects/:id/deployments/:deployment_id',
  summary: 'Get a deployment',
  gates: [project, readsEnvironments, deployment],
  handle: (ctx) => show(ctx, ctx.deployment.id),
  returns: Deployment,
})

/** Effects of a successful deployment. */
async function succeed(turn: Turn, { id, environment_id }: Row): Promise<void> {
  await restartEnvironment(turn, environment_id)
  await enqueue(turn.db, linkMergeRequests, { deployment_id: id })
}

export const createDeployment = operation({
  ...common,
  method: 'POST',
  path: '/projects/:id/deployments',
  summary: 'Create a deployment, and its environment where it does not exist',
  moves: 'rows',
  params: t.Object({
    environment: filled(),
    sha: filled(),
    ref: filled(),
    tag: t.Boolean({ description: 'Whether `ref` is a tag' }),
    status: oneOf(rules.TOLD_STATUSES),
  }),
  gates: [project, readsEnvironments, developer, deployedCommit],
  handle: async (ctx) => {
    const { actor, project, params, sha, now } = ctx
    const { environment: name, ref, tag, status } = params
    const faults = environmentNameFaults(name)
    if (faults.length > 0) throw invalid({ name: faults })
    const finished_at = status === 'running' ? null : now
    const { id } = await ctx.transact(ctx, ({ db }) =>
      inTurn(db, project.id, async (turn) => {
        const place = { project_id: project.id, name, slug: environmentSlug(name), tier: guessTier(name) }
        const environment = await deployments.keepEnvironment(db, place)
        if (environment === undefined) throw rules.slugTaken()
        const told = { user_id: actor.id, ref, tag, sha, status, finished_at }
        const row = await deployments.insert(db, {
          project_id: project.id,
          environment_id: environment.id,
          ...told,
        })
        await recordDeployments(db, [row])
        if (status === 'success') await succeed(turn, row)
        return row
      }),
    )
    return show(ctx, id)
  },
  returns: Deployment,
  refuses: [rules.slugTaken, invalid({ name: ["can't be blank"] })],
})

export const updateDeployment = operation({
  ...common,
  method: 'PUT',
  path: '/projects/:id/deployments/:deployment_id',
  summary: 'Change the status of a deployment that no job made',
  params: t.Object({ status: oneOf(rules.TOLD_STATUSES) }),
  gates: [project, readsEnvironments, developer, deployment, isOfNoJob],
  handle: async (ctx) => {
    const { db, project, deployment, params } = ctx
    const { event, from } = rules.TRANSITIONS[params.status]
    await inTurn(db, project.id, async (turn) => {
      const row = await deployments.setStatus(db, deployment, { status: params.status, from })
      if (row === undefined) throw rules.noTransition(event)
      await recordDeployments(db, [row])
      if (row.status === 'success') await succeed(turn, row)
    })
    return show(ctx, deployment.id)
  },
  returns: Deployment,
  refuses: [rules.noTransition],
})

export const deleteDeployment = operation({
  ...common,
  method: 'DELETE',
  path: '/projects/:id/deployments/:deployment_id',
  summary: 'Delete a deployment that neither runs nor is the last one of its environment',
  gates: [project, readsEnvironments, maintainer, deployment],
  handle: ({ db, project, deployment }) =>
    inTurn(db, project.id, async () => {
      const row = await deployments.find(db, deployment)
      if (row?.status === 'running') throw rules.isRunning()
      if (row !== undefined && (await deployments.isLast(db, row))) throw rules.isDeployed()
      return deployments.remove(db, deployment)
    }),
  returns: nothing,
  refuses: [rules.isRunning, rules.isDeployed],
})

export const listDeploymentMergeRequests = operation({
  ...common,
  method: 'GET',
  path: '/projects/:id/deployments/:deployment_id/merge_requests',
  summary: 'List the merge requests that a deployment was the first to ship',
  gates: [project, readsEnvironments, deployment],
  handle: async (ctx) => {
    const found = await deployments.listMergeRequests(ctx.db, ctx.actor, ctx.deployment.id, ctx.page)
    return presentPage(found, (row) => presentMergeRequest(row, ctx))
  },
  returns: pageOf(MergeRequest),
})
