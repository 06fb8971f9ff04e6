import { Type as t } from 'typebox'
import { administrator, anyone, group, project, signedIn } from '../../access/gates/gates.ts'
import { hasFeature } from '../../core/places/project_features.ts'
import type { Group } from '../../core/places/groups.ts'
import type { Project } from '../../core/places/projects.ts'
import type { Listed } from '../../db/pages.ts'
import type { Context } from '../../http/gate.ts'
import { operation, pageOf, type PageRequest } from '../../http/operation.ts'
import { Issue, presentIssue, type IssueShown } from '../../records/planning/issue.ts'
import { countParams, listParams, type FilterParams } from './filter_params.ts'
import { filterOf } from './filters.ts'
import { issueById, knownOrAll } from './gates.ts'
import type { OrderName } from './orders.ts'
import * as lists from './list_store.ts'
import { show } from './store.ts'
import { presentPage } from '../../http/answers/pages.ts'

interface Asked extends Context {
  readonly page: PageRequest
  readonly params: FilterParams & { readonly order_by?: OrderName; readonly sort?: 'asc' | 'desc' }
  readonly project?: Project
  readonly group?: Group
}

const NOTHING: Listed<IssueShown> = { items: [], total: 0 }

async function listIn(ctx: Asked, place: lists.Place): Promise<Listed<IssueShown>> {
  const { db, actor, params, page } = ctx
  const filter = await filterOf(ctx, params)
  if (filter.conditions.includes('nothing')) return NOTHING
  return lists.listIssues(
    db,
    actor,
    { place, filter },
    {
      order: params.order_by ?? 'created_at',
      descending: params.sort !== 'asc',
      ...page,
    },
  )
}

const inProject = ({ id, role }: Project): lists.Place => ({ in: 'project', id, role })

export const listProjectIssues = operation({
  method: 'GET',
  path: '/projects/:id/issues',
  summary: 'List the issues of a project',
  published: true,
  params: t.Object(listParams),
  gates: [project, anyone],
  handle: async (ctx) => {
    const { actor, project, params, config } = ctx
    if (!hasFeature(actor, project, 'issues')) return { items: [], total: 0 }
    const found = await listIn(ctx, inProject(project))
    const around = { config, details: params.with_labels_details }
    return presentPage(found, (row) => presentIssue(row, around))
  },
  returns: pageOf(Issue),
})

export const listGroupIssues = operation({
  method: 'GET',
  path: '/groups/:id/issues',
  summary: 'List the issues of a group and of all below it',
  published: true,
  params: t.Object({ ...listParams, non_archived: t.Boolean({ default: true }) }),
  gates: [group, anyone],
  handle: async (ctx) => {
    const { group, params, config } = ctx
    const found = await listIn(ctx, { in: 'group', id: group.id })
    const around = { config, details: params.with_labels_details, group: group.full_path }
    return presentPage(found, (row) => presentIssue(row, around))
  },
  returns: pageOf(Issue),
})

export const listIssues = operation({
  method: 'GET',
  path: '/issues',
  summary: 'List issues; those of the caller by default',
  published: true,
  params: t.Object({
    ...listParams,
    scope: { ...listParams.scope, default: 'created_by_me' as const },
    non_archived: t.Boolean({ default: true }),
  }),
  gates: [knownOrAll],
  handle: async (ctx) => {
    const { params, config } = ctx
    const found = await listIn(ctx, { in: 'everywhere' })
    const around = { config, details: params.with_labels_details, group: null }
    return presentPage(found, (row) => presentIssue(row, around))
  },
  returns: pageOf(Issue),
})

export const getIssueById = operation({
  method: 'GET',
  path: '/issues/:id',
  summary: 'Get an issue by its id',
  published: true,
  first: [signedIn, administrator],
  gates: [issueById],
  handle: async ({ db, actor, issue, config }) =>
    presentIssue(await show(db, issue.id, actor.id), { config }),
  returns: Issue,
})

const Statistics = t.Object({
  statistics: t.Object({
    counts: t.Object({ all: t.Integer(), closed: t.Integer(), opened: t.Integer() }),
  }),
})
const NONE: lists.Counts = { all: 0, closed: 0, opened: 0 }

async function countIn(
  ctx: Context & { readonly params: FilterParams; readonly project?: Project; readonly group?: Group },
  place: lists.Place,
): Promise<{ statistics: { counts: lists.Counts } }> {
  const { db, actor, params } = ctx
  const filter = await filterOf(ctx, params)
  const none = filter.conditions.includes('nothing')
  return { statistics: { counts: none ? NONE : await lists.countIssues(db, actor, place, filter) } }
}

export const getProjectIssueStatistics = operation({
  method: 'GET',
  path: '/projects/:id/issues_statistics',
  summary: 'Count the issues of a project by state',
  published: true,
  params: t.Object(countParams),
  gates: [project, anyone],
  handle: async (ctx) =>
    hasFeature(ctx.actor, ctx.project, 'issues')
      ? countIn(ctx, inProject(ctx.project))
      : { statistics: { counts: NONE } },
  returns: Statistics,
})

export const getGroupIssueStatistics = operation({
  method: 'GET',
  path: '/groups/:id/issues_statistics',
  summary: 'Count the issues of a group and of all below it by state',
  published: true,
  params: t.Object(countParams),
  gates: [group, anyone],
  handle: async (ctx) => countIn(ctx, { in: 'group', id: ctx.group.id }),
  returns: Statistics,
})

export const getIssueStatistics = operation({
  method: 'GET',
  path: '/issues_statistics',
  summary: 'Count issues by state; those of the caller by default',
  published: true,
  params: t.Object({
    ...countParams,
    scope: { ...countParams.scope, default: 'created_by_me' as const },
  }),
  gates: [knownOrAll],
  handle: async (ctx) => countIn(ctx, { in: 'everywhere' }),
  returns: Statistics,
})
