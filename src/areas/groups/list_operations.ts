import { Type as t, type Static } from 'typebox'
import { anyone, group } from '../../access/gates/gates.ts'
import { includes } from '../../core/settings/plans.ts'
import { attributeFilter } from '../../core/people/custom_attributes.ts'
import type { Group } from '../../core/places/groups.ts'
import {
  ANY_NAMESPACE,
  NAMESPACE_LIST_SHAPE,
  type NamespaceListShape,
} from '../../core/lists/namespace_shape.ts'
import { ROLES } from '../../core/sight/roles.ts'
import { VISIBILITIES } from '../../core/values/visibilities.ts'
import type { Listed } from '../../db/pages.ts'
import { meant } from '../../db/text.ts'
import type { Context } from '../../http/gate.ts'
import { operation, pageOf, type Keyset, type PageRequest } from '../../http/operation.ts'
import { badParams, noKeyset, offsetTooDeep } from '../../http/problems.ts'
import { attributesParam, date, listOf, oneOf } from '../../http/params/schema.ts'
import { GroupItem, presentItem } from './entity.ts'
import { readCursor, writeCursor } from './rules.ts'
import { listGroups as findGroups } from './store.ts'

const DEEPEST = 50_000

const ids = { skip_groups: t.Optional(listOf(t.Integer())) }
const search = { search: t.Optional(t.String({ description: 'Part of the name or path' })) }
const order = {
  order_by: oneOf(['name', 'path', 'id', 'similarity'], { default: 'name' }),
  sort: oneOf(['asc', 'desc'], { default: 'asc' }),
}
const visibility = { visibility: t.Optional(oneOf(VISIBILITIES)) }
const attributes = {
  with_custom_attributes: t.Boolean({ default: false, description: 'For administrators' }),
  custom_attributes: attributesParam,
}
const level = {
  min_access_level: t.Optional(
    t.Integer({
      minimum: 0,
      maximum: ROLES.owner,
      description: 'The least access level the caller must hold',
    }),
  ),
}
const every = {
  ...ids,
  all_available: t.Optional(t.Boolean()),
  ...search,
  ...order,
  statistics: t.Boolean({ default: false, description: 'For administrators' }),
  ...visibility,
  ...attributes,
  owned: t.Boolean({ default: false }),
  ...level,
  top_level_only: t.Boolean({ default: false }),
  repository_storage: t.Optional(t.String({ description: 'For administrators, Premium and above' })),
  marked_for_deletion_on: t.Optional(date()),
}
const everyParam = t.Object(every)
type Wanted = Partial<Static<typeof everyParam>>

type Here = Context & { readonly page: PageRequest }
interface Place {
  readonly of: NamespaceListShape['of']
  readonly group?: Pick<Group, 'id' | 'full_path'>
  readonly line?: readonly number[]
  readonly scope: NamespaceListShape['scope']
  readonly after?: { readonly name: string; readonly id: number } | undefined
}

/** One page of groups as the caller wants them, from where they are looked for. */
async function pageOfGroups(
  ctx: Here,
  params: Wanted,
  from: Place,
): Promise<Listed<Static<typeof GroupItem>> | Keyset<Static<typeof GroupItem>>> {
  const { db, actor, page, settings } = ctx
  const { of, scope, after } = from
  // Subgroups are not at the top level.
  if (params.top_level_only && from.group !== undefined) return { items: [], total: 0 }
  const admin = actor?.admin === true
  const custom = attributeFilter(actor, params.custom_attributes)
  const paid = includes(settings.get('tier'), 'premium')
  const { search = '', repository_storage, marked_for_deletion_on } = params
  const shape = {
    ...NAMESPACE_LIST_SHAPE,
    of,
    scope,
    order: params.order_by ?? 'name',
    descending: params.sort === 'desc',
    visibility: params.visibility ?? null,
    search: meant(search),
    skips: params.skip_groups !== undefined,
    storage: admin && paid && repository_storage !== undefined,
    markedForDeletion: paid && marked_for_deletion_on !== undefined,
    attributes: custom !== undefined,
    after: after !== undefined,
    sizes: admin && params.statistics === true,
  }
  const found = await findGroups(db, actor, shape, {
    ...ANY_NAMESPACE,
    of_id: from.group?.id ?? ANY_NAMESPACE.of_id,
    of_path: from.group?.full_path ?? ANY_NAMESPACE.of_path,
    line: from.line ?? ANY_NAMESPACE.line,
    search,
    role: params.min_access_level ?? ANY_NAMESPACE.role,
    skips: params.skip_groups ?? ANY_NAMESPACE.skips,
    storage: repository_storage ?? ANY_NAMESPACE.storage,
    marked_for_deletion_on: marked_for_deletion_on ?? ANY_NAMESPACE.marked_for_deletion_on,
    attributes: custom ?? ANY_NAMESPACE.attributes,
    after_name: after?.name ?? ANY_NAMESPACE.after_name,
    after_id: after?.id ?? ANY_NAMESPACE.after_id,
    limit: after ? page.limit + 1 : page.limit,
    offset: after ? 0 : page.offset,
  })
  const shows = { customAttributes: admin && params.with_custom_attributes === true }
  const items = found.items.slice(0, page.limit).map((row) => presentItem(row, ctx, shows))
  const last = found.items[page.limit - 1]
  if (!after) return { items, total: found.total }
  return { items, next: last && found.items.length > page.limit ? writeCursor(last) : undefined }
}

export const listGroups = operation({
  method: 'GET',
  path: '/groups',
  summary: 'List groups; without a token, the public ones',
  params: everyParam,
  gates: [anyone],
  handle: async (ctx) => {
    const { actor, params } = ctx
    return pageOfGroups(ctx, params, {
      of: params.top_level_only ? 'top' : 'all',
      scope: scopeOf(actor, params),
      after: keysetOf(ctx, params),
    })
  },
  returns: pageOf(GroupItem, { keyset: true }),
  refuses: [noKeyset, offsetTooDeep(DEEPEST, 'Group')],
})

function scopeOf(actor: Context['actor'], wanted: Wanted): NamespaceListShape['scope'] {
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
    if (page.number * page.limit > DEEPEST) throw offsetTooDeep(DEEPEST, 'Group')
    return undefined
  }
  if (order_by !== 'name' || sort !== 'asc') throw noKeyset()
  if (page.cursor === '') return { name: '', id: 0 }
  const cursor = readCursor(page.cursor)
  if (cursor === undefined) throw badParams(['cursor is invalid'])
  return cursor
}

export const listSubgroups = operation({
  method: 'GET',
  path: '/groups/:id/subgroups',
  summary: 'List the groups right below a group',
  published: true,
  params: everyParam,
  gates: [group, anyone],
  handle: async (ctx) => {
    const { actor, group, params } = ctx
    return pageOfGroups(ctx, params, { of: 'children', group, scope: scopeOf(actor, params) })
  },
  returns: pageOf(GroupItem),
})

export const listDescendantGroups = operation({
  method: 'GET',
  path: '/groups/:id/descendant_groups',
  summary: 'List all groups below a group',
  published: true,
  params: everyParam,
  gates: [group, anyone],
  handle: async (ctx) => {
    const { actor, group, params } = ctx
    return pageOfGroups(ctx, params, {
      of: 'below',
      group,
      scope: scopeOf(actor, params),
    })
  },
  returns: pageOf(GroupItem),
})

/** Of what a share tells, the caller hears what the caller may see, belonging there or not. */
const seen = (actor: Context['actor'], wanted: Wanted): NamespaceListShape['scope'] =>
  scopeOf(actor, { ...wanted, all_available: true })

export const listGroupsSharedWithGroup = operation({
  method: 'GET',
  path: '/groups/:id/groups/shared',
  summary: 'List the groups that a group was invited to',
  published: true,
  params: t.Object({ ...ids, ...search, ...order, ...visibility, ...attributes, ...level }),
  gates: [group, anyone],
  handle: async (ctx) => {
    const { actor, group, params } = ctx
    return pageOfGroups(ctx, params, { of: 'sharing', group, scope: seen(actor, params) })
  },
  returns: pageOf(GroupItem),
})

export const listInvitedGroups = operation({
  method: 'GET',
  path: '/groups/:id/invited_groups',
  summary: 'List the groups that were invited to a group or to one above it',
  published: true,
  params: t.Object({
    relation: t.Optional(listOf(oneOf(['direct', 'inherited']))),
    ...search,
    ...level,
    ...attributes,
  }),
  gates: [group, anyone],
  handle: async (ctx) => {
    const { actor, group, params } = ctx
    const relation = params.relation ?? ['direct', 'inherited']
    const line = group.traversal_ids.filter((id) =>
      relation.includes(id === group.id ? 'direct' : 'inherited'),
    )
    return pageOfGroups(ctx, params, { of: 'invited', group, line, scope: seen(actor, params) })
  },
  returns: pageOf(GroupItem),
})
