import { Type as t } from 'typebox'
import { anyone, group } from '../../access/gates.ts'
import { includes } from '../../access/tiers.ts'
import type { Group as GroupRow } from '../../core/groups.ts'
import { ROLES } from '../../core/roles.ts'
import type { Context } from '../../http/gate.ts'
import { operation, pageOf, type PageRequest } from '../../http/operation.ts'
import { badParams, noKeyset, offsetTooDeep } from '../../http/problems.ts'
import { date, listOf, oneOf } from '../../http/schema.ts'
import { Group, GroupItem, present, presentItem, type Around } from './entity.ts'
import { GroupProject, presentProject } from '../../records/project.ts'
import { PROJECT_ORDERS, PROJECT_SHAPE, listProjects, type ProjectFilters } from './project_store.ts'
import { readCursor, writeCursor } from './rules.ts'
import { listGroups as findGroups, listShares, type ListShape } from './store.ts'

const visibility = t.Optional(oneOf(['private', 'internal', 'public']))
const level = t.Optional(
  t.Integer({ minimum: 0, maximum: ROLES.owner, description: 'The least access level the caller must hold' }),
)
const DEEPEST = 50_000
const MOST_PROJECTS = 100

export const listGroups = operation({
  method: 'GET',
  path: '/groups',
  summary: 'List groups; without a token, the public ones',
  params: t.Object({
    skip_groups: t.Optional(listOf(t.Integer())),
    all_available: t.Optional(t.Boolean()),
    search: t.Optional(t.String({ description: 'Part of the name or path' })),
    order_by: t.Optional(oneOf(['name', 'path', 'id', 'similarity'], { default: 'name' })),
    sort: t.Optional(oneOf(['asc', 'desc'], { default: 'asc' })),
    statistics: t.Optional(t.Boolean({ default: false, description: 'For administrators' })),
    visibility,
    with_custom_attributes: t.Optional(t.Boolean({ default: false, description: 'For administrators' })),
    owned: t.Optional(t.Boolean({ default: false })),
    min_access_level: level,
    top_level_only: t.Optional(t.Boolean({ default: false })),
    repository_storage: t.Optional(t.String({ description: 'For administrators, Premium and above' })),
    marked_for_deletion_on: t.Optional(date()),
  }),
  gates: [anyone],
  handle: async (ctx) => {
    const { db, actor, config, params, page } = ctx
    const admin = actor?.admin === true
    const paid = includes(config.tier, 'premium')
    const keyset = keysetOf(ctx, params)
    const search = params.search ?? ''
    const shape: ListShape = {
      scope: scopeOf(actor, params),
      order: params.order_by ?? 'name',
      descending: params.sort === 'desc',
      search: search !== '',
      visibility: params.visibility !== undefined,
      skips: params.skip_groups !== undefined,
      topLevelOnly: params.top_level_only ?? false,
      storage: admin && paid && params.repository_storage !== undefined,
      markedForDeletion: paid && params.marked_for_deletion_on !== undefined,
      sizes: admin && params.statistics === true,
      after: keyset !== undefined,
    }
    const found = await findGroups(db, actor, shape, {
      search,
      visibility: params.visibility ?? null,
      skip_groups: params.skip_groups ?? [],
      min_access_level: params.min_access_level ?? 0,
      repository_storage: params.repository_storage ?? null,
      marked_for_deletion_on: params.marked_for_deletion_on ?? null,
      after: keyset ?? null,
      limit: keyset ? page.size + 1 : page.size,
      offset: keyset ? 0 : page.offset,
    })
    const shows = { customAttributes: admin && params.with_custom_attributes === true }
    const items = found.items.slice(0, page.size).map((row) => presentItem(row, ctx, shows))
    const last = found.items[page.size - 1]
    if (!keyset) return { items, total: found.total }
    return { items, next: last && found.items.length > page.size ? writeCursor(last) : undefined }
  },
  returns: pageOf(GroupItem, { keyset: true }),
  refuses: [noKeyset, () => offsetTooDeep(DEEPEST, 'Group')],
})

interface Wanted {
  readonly owned?: boolean
  readonly min_access_level?: number
  readonly all_available?: boolean
}

function scopeOf(actor: Context['actor'], wanted: Wanted): ListShape['scope'] {
  if (wanted.owned) return 'owned'
  if (actor === null) return 'visible'
  if (wanted.min_access_level !== undefined) return 'role'
  if (wanted.all_available ?? actor.admin) return actor.admin ? 'all' : 'visible'
  return 'member'
}

/** Keyset pagination is for callers without a token, in the order of names; signed-in callers' wish has no effect. */
function keysetOf(
  { actor, page }: Context & { page: PageRequest },
  { order_by = 'name', sort = 'asc' }: { order_by?: string; sort?: string },
): { name: string; id: number } | undefined {
  if (actor !== null) return undefined
  if (page.cursor === undefined) {
    if (page.number * page.size > DEEPEST) throw offsetTooDeep(DEEPEST, 'Group')
    return undefined
  }
  if (order_by !== 'name' || sort !== 'asc') throw noKeyset()
  if (page.cursor === '') return { name: '', id: 0 }
  const cursor = readCursor(page.cursor)
  if (cursor === undefined) throw badParams(['cursor is invalid'])
  return cursor
}

export const getGroup = operation({
  method: 'GET',
  path: '/groups/:id',
  summary: 'Get a group',
  params: t.Object({
    with_custom_attributes: t.Optional(t.Boolean({ default: false, description: 'For administrators' })),
    with_projects: t.Optional(t.Boolean({ default: true, description: 'Deprecated' })),
  }),
  gates: [group, anyone],
  handle: async (ctx) => {
    const { actor, group, params } = ctx
    const around = await aroundGroup(ctx, params.with_projects ?? true)
    const shows = { customAttributes: actor?.admin === true && params.with_custom_attributes === true }
    return present(group, around, { site: ctx, actor, shows })
  },
  returns: Group,
})

async function aroundGroup(ctx: Context & { group: GroupRow }, withProjects: boolean): Promise<Around> {
  const { db, actor, group } = ctx
  const filters = projectFilters(group, { limit: MOST_PROJECTS, offset: 0 })
  const shape = { ...PROJECT_SHAPE, everything: actor?.admin === true, counted: false }
  const view = { simple: false, customAttributes: false }
  const [shared_with_groups, own, shared] = await Promise.all([
    listShares(db, actor, group.id),
    withProjects ? listProjects(db, actor, shape, filters) : undefined,
    withProjects ? listProjects(db, actor, { ...shape, own: false, shared: true }, filters) : undefined,
  ])
  return {
    shared_with_groups,
    projects: own?.items.map((row) => presentProject(row, ctx, view)),
    shared_projects: shared?.items.map((row) => presentProject(row, ctx, view)),
  }
}

const projectFilters = (group: GroupRow, page: { limit: number; offset: number }): ProjectFilters => ({
  group_id: group.id,
  line: group.traversal_ids,
  visibility: null,
  search: '',
  role: 0,
  ...page,
})

const flag = t.Optional(t.Boolean({ default: false }))

export const listGroupProjects = operation({
  method: 'GET',
  path: '/groups/:id/projects',
  summary: 'List the projects of a group; without a token, the public ones',
  published: true,
  params: t.Object({
    archived: t.Optional(t.Boolean()),
    visibility,
    search: t.Optional(t.String({ description: 'Part of the name or path' })),
    order_by: t.Optional(oneOf(PROJECT_ORDERS, { default: 'created_at' })),
    sort: t.Optional(oneOf(['asc', 'desc'], { default: 'desc' })),
    simple: flag,
    owned: flag,
    starred: flag,
    with_issues_enabled: flag,
    with_merge_requests_enabled: flag,
    with_shared: t.Optional(t.Boolean({ default: true })),
    include_subgroups: flag,
    include_ancestor_groups: flag,
    min_access_level: level,
    with_custom_attributes: t.Optional(t.Boolean({ default: false, description: 'For administrators' })),
  }),
  gates: [group, anyone],
  handle: async (ctx) => {
    const { db, actor, group, params, page } = ctx
    const admin = actor?.admin === true
    const search = params.search ?? ''
    const role = params.owned ? ROLES.owner : actor ? params.min_access_level : undefined
    const found = await listProjects(
      db,
      actor,
      {
        ...PROJECT_SHAPE,
        ancestors: params.include_ancestor_groups ?? false,
        descendants: params.include_subgroups ?? false,
        shared: params.with_shared ?? true,
        everything: admin,
        order: params.order_by ?? 'created_at',
        descending: params.sort !== 'asc',
        archived: params.archived ?? null,
        visibility: params.visibility !== undefined,
        search: search !== '',
        starred: params.starred ?? false,
        role: role !== undefined,
        issuesEnabled: params.with_issues_enabled ?? false,
        mergeRequestsEnabled: params.with_merge_requests_enabled ?? false,
      },
      {
        ...projectFilters(group, { limit: page.size, offset: page.offset }),
        visibility: params.visibility ?? null,
        search,
        role: role ?? 0,
      },
    )
    const view = {
      simple: params.simple ?? false,
      customAttributes: admin && params.with_custom_attributes === true,
    }
    return { ...found, items: found.items.map((row) => presentProject(row, ctx, view)) }
  },
  returns: pageOf(GroupProject),
})
