import { Type as t, type Static, type TObject } from 'typebox'
import { anyone, group } from '../../access/gates/gates.ts'
import type { Group } from '../../core/places/groups.ts'
import { ROLES } from '../../core/sight/roles.ts'
import {
  PROJECT_LIST_SHAPE,
  PROJECT_ORDERS,
  type ProjectListShape,
  type ProjectSet,
} from '../../core/lists/project_shape.ts'
import { VISIBILITIES } from '../../core/values/visibilities.ts'
import type { Listed } from '../../db/pages.ts'
import { meant } from '../../db/text.ts'
import type { Context } from '../../http/gate.ts'
import { operation, pageOf, type PageRequest } from '../../http/operation.ts'
import { oneOf } from '../../http/params/schema.ts'
import { GroupProject, presentProject } from '../../records/places/project.ts'
import { listProjects } from './project_store.ts'
import { projectFilters } from './group_details.ts'
import { presentPage } from '../../http/answers/pages.ts'

const flag = t.Boolean({ default: false })
const looks = {
  archived: t.Optional(t.Boolean()),
  visibility: t.Optional(oneOf(VISIBILITIES)),
  search: t.Optional(
    t.String({
      description:
        'Part of the name, path or description; the whole name or path where that is less than three letters',
    }),
  ),
}
const order = {
  sort: oneOf(['asc', 'desc'], { default: 'desc' }),
  simple: flag,
}
const has = {
  starred: flag,
  with_issues_enabled: flag,
  with_merge_requests_enabled: flag,
}
const rest = {
  min_access_level: t.Optional(
    t.Integer({
      minimum: 0,
      maximum: ROLES.owner,
      description: 'The least access level the caller must hold',
    }),
  ),
  with_custom_attributes: t.Boolean({ default: false, description: 'For administrators' }),
}
const every = {
  ...looks,
  order_by: oneOf(PROJECT_ORDERS, { default: 'created_at' }),
  ...order,
  owned: flag,
  ...has,
  with_shared: t.Boolean({ default: true }),
  include_subgroups: flag,
  include_ancestor_groups: flag,
  ...rest,
}
type Wanted = Partial<Static<TObject<typeof every>>>
type Here = Context & { readonly group: Group; readonly page: PageRequest }

/** The projects of the group, of its subgroups, of its ancestors, and those shared with it. */
function whereOf(params: Wanted, own: boolean): Pick<ProjectListShape, 'of' | 'also'> {
  if (!own) return { of: 'shared', also: [] }
  const { include_subgroups, include_ancestor_groups, with_shared = true } = params
  const also: ProjectSet[] = [
    ...(include_ancestor_groups ? (['above'] as const) : []),
    ...(with_shared ? (['shared'] as const) : []),
  ]
  return { of: include_subgroups ? 'below' : 'namespace', also }
}

async function pageOfProjects(
  ctx: Here,
  params: Wanted,
  own: boolean,
): Promise<Listed<Static<typeof GroupProject>>> {
  const { db, actor, group, page } = ctx
  const admin = actor?.admin === true
  const { search = '', with_issues_enabled, with_merge_requests_enabled } = params
  const role = params.owned ? ROLES.owner : actor ? params.min_access_level : undefined
  const found = await listProjects(
    db,
    actor,
    {
      ...PROJECT_LIST_SHAPE,
      ...whereOf(params, own),
      order: params.order_by ?? 'created_at',
      descending: params.sort !== 'asc',
      visibility: params.visibility ?? null,
      archived: params.archived ?? null,
      search: meant(search),
      starred: params.starred ?? false,
      role: role !== undefined && role > 0,
      uses: [
        ...(with_issues_enabled ? (['issues'] as const) : []),
        ...(with_merge_requests_enabled ? (['merge_requests'] as const) : []),
      ],
    },
    {
      ...projectFilters(group, { ...page }),
      search,
      role: Math.max(role ?? 0, ROLES.guest),
    },
  )
  const view = {
    simple: params.simple ?? false,
    customAttributes: admin && params.with_custom_attributes === true,
  }
  return presentPage(found, (row) => presentProject(row, ctx, view))
}

export const listGroupProjects = operation({
  method: 'GET',
  path: '/groups/:id/projects',
  summary: 'List the projects of a group; without a token, the public ones',
  published: true,
  params: t.Object(every),
  gates: [group, anyone],
  handle: async (ctx) => pageOfProjects(ctx, ctx.params, true),
  returns: pageOf(GroupProject),
})

export const listProjectsSharedWithGroup = operation({
  method: 'GET',
  path: '/groups/:id/projects/shared',
  summary: 'List the projects that are shared with a group',
  published: true,
  params: t.Object({
    ...looks,
    order_by: oneOf(['id', 'name', 'path', 'created_at', 'updated_at', 'star_count', 'last_activity_at'], {
      default: 'created_at',
    }),
    ...order,
    ...has,
    ...rest,
  }),
  gates: [group, anyone],
  handle: async (ctx) => pageOfProjects(ctx, ctx.params, false),
  returns: pageOf(GroupProject),
})
