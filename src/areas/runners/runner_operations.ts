import { existing } from '../../db/rows.ts'
import { Type as t, type Static } from 'typebox'
import { signedIn } from '../../access/gates/gates.ts'
import { removeRunner } from '../../ci/runners/runners.ts'
import { canSee, ROLES } from '../../core/sight/roles.ts'
import type { Actor, Context } from '../../http/gate.ts'
import { nothing, operation, pageOf } from '../../http/operation.ts'
import { presentPage } from '../../http/answers/pages.ts'
import { noSuchRecord } from '../../http/problems.ts'
import { changesOf, oneOf } from '../../http/params/schema.ts'
import { JobWithProject, presentRunnerJobs } from './jobs.ts'
import { RunnerDetail, RunnerManager, presentManager, presentRunnerDetail } from './entity.ts'
import { checkTags, fields, noTags, tagsOf } from './fields.ts'
import { hasOneProject, managesRunner, runner, seesRunner } from './gates.ts'
import * as runners from './store.ts'
import type { SeenRunner } from './store.ts'

const common = { published: true, scopes: ['manage_runner'], first: [signedIn] } as const

type OnRunner = Context & { readonly actor: Actor }

async function show(ctx: OnRunner, row: SeenRunner): Promise<Static<typeof RunnerDetail>> {
  const { db, actor } = ctx
  const [projects, groups, manager] = [
    await runners.projectsOf(db, row.id, actor.id),
    await runners.groupsOf(db, row.id, actor.id),
    await runners.latestManager(db, row.id),
  ]
  const places = {
    projects: projects.filter(({ visibility, role }) => canSee(actor, visibility, role, ROLES.guest)),
    groups: groups.filter(({ visibility, role }) => canSee(actor, visibility, role, ROLES.minimal_access)),
    manager,
  }
  return presentRunnerDetail(row, places, ctx)
}

export const getRunner = operation({
  method: 'GET',
  path: '/runners/:id',
  summary: 'Get a runner',
  ...common,
  gates: [runner, seesRunner],
  handle: (ctx) => show(ctx, ctx.runner),
  returns: RunnerDetail,
})

const changes = {
  ...changesOf(fields),
  active: t.Optional(t.Boolean({ deprecated: true, description: 'Deprecated: see `paused`' })),
}

export const updateRunner = operation({
  method: 'PUT',
  path: '/runners/:id',
  summary: 'Change a runner',
  ...common,
  params: t.Object(changes, { atLeastOne: Object.keys(changes), atMostOne: ['paused', 'active'] }),
  gates: [runner, managesRunner],
  handle: async (ctx) => {
    const { db, actor, params, runner: before } = ctx
    const { active, tag_list, ...rest } = params
    const tags = tag_list && tagsOf(tag_list)
    checkTags({
      run_untagged: rest.run_untagged ?? before.run_untagged,
      tag_list: tags ?? before.tag_list,
    })
    await runners.update(db, before.id, {
      ...rest,
      ...(active !== undefined && { paused: !active }),
      ...(tags && { tag_list: tags }),
    })
    await runners.announce(db)
    return show(ctx, existing(await runners.find(db, before.id, actor.id)))
  },
  returns: RunnerDetail,
  refuses: [noTags],
})

export const deleteRunner = operation({
  method: 'DELETE',
  path: '/runners/:id',
  summary: 'Delete a runner',
  ...common,
  gates: [runner, hasOneProject, managesRunner],
  handle: async ({ db, runner }) => {
    if ((await removeRunner(db, runner.id)) === 0) throw noSuchRecord()
    return null
  },
  returns: nothing,
})

const JOB_STATUSES = [
  ...(['created', 'waiting_for_resource', 'preparing', 'waiting_for_callback', 'pending'] as const),
  ...(['running', 'canceling', 'success', 'failed', 'canceled', 'skipped', 'manual', 'scheduled'] as const),
] as const

export const listRunnerJobs = operation({
  method: 'GET',
  path: '/runners/:id/jobs',
  summary: 'List the jobs that a runner has or had, of projects whose pipelines the caller reads',
  ...common,
  params: t.Object({
    status: t.Optional(oneOf(JOB_STATUSES)),
    system_id: t.Optional(t.String({ description: 'Of one process of the runner' })),
    order_by: oneOf(['id'], { default: 'id' }),
    sort: oneOf(['asc', 'desc'], { default: 'desc' }),
  }),
  gates: [runner, managesRunner],
  handle: async (ctx) => {
    const { db, actor, page, params, runner } = ctx
    const { status, system_id, sort } = params
    const shape = {
      status: status !== undefined,
      system: system_id !== undefined,
      desc: sort === 'desc',
      admin: actor.admin,
    }
    const { items, total } = await runners.listJobs(db, shape, {
      runner_id: runner.id,
      user_id: actor.id,
      status: status ?? '',
      system_id: system_id ?? '',
      limit: page.limit,
      offset: page.offset,
    })
    return { items: await presentRunnerJobs(ctx, items), total }
  },
  returns: pageOf(JobWithProject),
})

export const listRunnerManagers = operation({
  method: 'GET',
  path: '/runners/:id/managers',
  summary: 'List the processes of a runner, the newest first',
  ...common,
  gates: [runner, managesRunner],
  handle: async (ctx) => {
    const found = await runners.listManagers(ctx.db, ctx.runner.id, ctx.page)
    return presentPage(found, (row) => presentManager(row, ctx))
  },
  returns: pageOf(RunnerManager),
})
