import { existing } from '../../db/rows.ts'
import { Type as t, type Static } from 'typebox'
import { developer, project, signedIn } from '../../access/gates/gates.ts'
import { mayWriteRef, readsEnvironments } from '../../access/gates/pipeline_gates.ts'
import { findStopper, stopEnvironment as stopInTurn } from '../../ci/environments/environments.ts'
import { inTurn } from '../../ci/turn.ts'
import { environmentSlug, guessTier } from '../../core/delivery/environments.ts'
import type { Project } from '../../core/places/projects.ts'
import { violates } from '../../db/errors.ts'
import type { Environment as Row } from '../../db/schema/delivery.ts'
import { checks, loads, type Actor, type Gate, type Has } from '../../http/gate.ts'
import { nothing, operation, pageOf } from '../../http/operation.ts'
import { presentPage } from '../../http/answers/pages.ts'
import { forbidden, invalid } from '../../http/problems.ts'
import { changesOf, oneOf, timestamp } from '../../http/params/schema.ts'
import {
  EnvironmentBasic,
  presentEnvironmentBasic,
  presentEnvironmentDeployments,
} from '../../records/jobs/deployment.ts'
import { Environment, EnvironmentDetail, STATES, fields, present, presentOwn } from './entity.ts'
import * as rules from './rules.ts'
import * as environments from './store.ts'

const common = { published: true, jobTokens: true, first: [signedIn] } as const

type Here = Has<{ actor: Actor; project: Project }>

const environment = loads({
  param: 'environment_id',
  type: t.Integer(),
  as: 'environment',
  says: 'an environment of the project',
  find: ({ db, project }: Has<{ project: Project }>, id) =>
    environments.find(db, { project_id: project.id, id }),
})

const isStopped = checks({
  says: 'an environment that has stopped',
  refuses: forbidden,
  holds: ({ environment }: Has<{ environment: Row }>) => environment.state === 'stopped',
})

/** An environment stops by a job that the caller may start, unless it is forced to. */
const mayStop: Gate<
  'allows',
  never,
  { actor: Actor; project: Project; environment: Row; params: { readonly force: boolean } },
  object
> = {
  kind: 'allows',
  says: 'the right to run the stop job of the environment, where there is one',
  refuses: forbidden,
  pass: async ({ db, actor, project, environment, params }) => {
    const job = params.force ? undefined : await findStopper(db, environment.id)
    return job === undefined || (await mayWriteRef(db, { actor, project }, job)) ? {} : undefined
  },
}

const show = async ({ db, actor, project, config }: Here, row: Row): Promise<Static<typeof Environment>> =>
  present(row, await environments.projectOf(db, actor, project.id), { config })

export const listEnvironments = operation({
  ...common,
  method: 'GET',
  path: '/projects/:id/environments',
  summary: 'List the environments of a project',
  params: t.Object({
    name: t.Optional(t.String()),
    search: t.Optional(t.String({ description: 'A part of the name, at least three characters' })),
    states: t.Optional(oneOf(STATES)),
  }),
  gates: [project, readsEnvironments],
  handle: async (ctx) => {
    const { db, actor, project, params, page } = ctx
    rules.checkSearch(params)
    const found = await environments.list(db, project.id, params, page)
    if (found.items.length === 0) return { items: [], total: found.total }
    const shown = await environments.projectOf(db, actor, project.id)
    return presentPage(found, (row) => present(row, shown, ctx))
  },
  returns: pageOf(Environment),
  refuses: [rules.bothGiven, rules.shortSearch],
})

export const getEnvironment = operation({
  ...common,
  method: 'GET',
  path: '/projects/:id/environments/:environment_id',
  summary: 'Get an environment with its last successful deployment',
  gates: [project, readsEnvironments, environment],
  handle: async (ctx) => {
    const row = await environments.lastDeployment(ctx.db, ctx.environment.id)
    const shown = await presentEnvironmentDeployments(ctx, ctx.project, row === undefined ? [] : [row])
    return { ...presentOwn(ctx.environment), last_deployment: shown[0] ?? null }
  },
  returns: EnvironmentDetail,
})

const noSlug = { slug: t.Optional(t.String({ description: 'Follows from the name; refused' })) }

export const createEnvironment = operation({
  ...common,
  method: 'POST',
  path: '/projects/:id/environments',
  summary: 'Add an environment to a project',
  params: t.Object({ name: t.String(), ...fields, ...noSlug }),
  gates: [project, readsEnvironments, developer],
  handle: async (ctx) => {
    const { db, project, params } = ctx
    const { external_url = null } = rules.checkEnvironment(params)
    const { name, tier = guessTier(name) } = params
    const row = await environments
      .insert(db, { project_id: project.id, name, slug: environmentSlug(name), external_url, tier })
      .catch((error: unknown) => {
        const isTaken = violates(error, 'environments_name_key') || violates(error, 'environments_slug_key')
        throw isTaken ? rules.taken() : error
      })
    return show(ctx, row)
  },
  returns: Environment,
  refuses: [rules.taken, rules.slugGiven, invalid({ name: ["can't be blank"] })],
})

export const updateEnvironment = operation({
  ...common,
  method: 'PUT',
  path: '/projects/:id/environments/:environment_id',
  summary: 'Change the address or the tier of an environment',
  params: t.Object({ ...changesOf(fields), ...noSlug }),
  gates: [project, readsEnvironments, developer, environment],
  handle: async (ctx) => {
    const { tier } = ctx.params
    const changes = { ...rules.checkEnvironment(ctx.params), ...(tier !== undefined && { tier }) }
    return show(ctx, await environments.update(ctx.db, ctx.environment, changes))
  },
  returns: Environment,
  refuses: [rules.slugGiven, invalid({ external_url: ['javascript scheme is not allowed'] })],
})

export const deleteEnvironment = operation({
  ...common,
  method: 'DELETE',
  path: '/projects/:id/environments/:environment_id',
  summary: 'Delete a stopped environment with its deployments',
  gates: [project, readsEnvironments, developer, environment, isStopped],
  // In turn with jobs, which refer to it: they are locked in the same order.
  handle: ({ db, project, environment }) =>
    inTurn(db, project.id, () => environments.remove(db, environment)),
  returns: nothing,
})

export const stopEnvironment = operation({
  ...common,
  method: 'POST',
  path: '/projects/:id/environments/:environment_id/stop',
  summary: 'Stop an environment, by its job where it has one',
  params: t.Object({
    force: t.Boolean({ default: false, description: 'Stops at once, without a job' }),
  }),
  gates: [project, readsEnvironments, developer, environment, mayStop],
  handle: async (ctx) => {
    const { db, actor, project, environment, params } = ctx
    await inTurn(db, project.id, (turn) =>
      stopInTurn(turn, environment.id, { user_id: actor.id, force: params.force }),
    )
    return show(ctx, existing(await environments.find(db, environment)))
  },
  returns: Environment,
  status: 200,
})

export const stopStaleEnvironments = operation({
  ...common,
  method: 'POST',
  path: '/projects/:id/environments/stop_stale',
  summary: 'Stop stale environments',
  params: t.Object({
    before: t.Unsafe<string>({ ...timestamp(), description: 'Ten years to one week ago' }),
  }),
  gates: [project, readsEnvironments, developer],
  handle: async ({ db, project, params, now }) => {
    await environments.stopStale(db, project.id, rules.checkStale(params.before, now))
    return { message: 'Successfully scheduled stale environments to stop' }
  },
  returns: t.Object({ message: t.String() }),
  status: 200,
  refuses: [rules.badDate],
})

const ReviewApps = t.Object({
  scheduled_entries: t.Array(EnvironmentBasic),
  unprocessable_entries: t.Array(EnvironmentBasic),
})

export const deleteReviewApps = operation({
  ...common,
  method: 'DELETE',
  path: '/projects/:id/environments/review_apps',
  summary: 'Schedule stopped review apps for deletion in a week',
  params: t.Object({
    before: t.Optional(
      t.Unsafe<string>({ ...timestamp(), description: 'Creation before; 30 days ago where left out' }),
    ),
    limit: t.Integer({ default: 100, minimum: 1, maximum: 1_000 }),
    dry_run: t.Boolean({ default: true, description: 'Lists them and deletes nothing' }),
  }),
  gates: [project, readsEnvironments, developer],
  handle: async ({ db, project, params, now }) => {
    const before = rules.reviewAppsBefore(params.before, now)
    const found = await environments.findReviewApps(db, {
      project_id: project.id,
      before,
      limit: params.limit,
    })
    if (found.length === 0) throw rules.noReviewApps()
    const ids = found.map(({ id }) => id)
    if (!params.dry_run) await environments.deleteLater(db, project.id, ids)
    return { scheduled_entries: found.map(presentEnvironmentBasic), unprocessable_entries: [] }
  },
  returns: ReviewApps,
  refuses: [rules.noReviewApps],
})
