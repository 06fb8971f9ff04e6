import { Type as t } from 'typebox'
import { group, groupOwner, insideGroup, signedIn, unmodified } from '../../access/gates.ts'
import type { Group } from '../../core/groups.ts'
import { loads, type Has } from '../../http/gate.ts'
import { nothing, operation, pageOf } from '../../http/operation.ts'
import { noSuchRecord } from '../../http/problems.ts'
import { Badge, BadgePreview, present, presentPreview } from './entity.ts'
import { badUrls, changeParams, checkUrls, listParams, newParams, previewParams } from './params.ts'
import { valuesInGroup } from './rendering.ts'
import * as badges from './store.ts'

const badge = loads({
  param: 'badge_id',
  type: t.Integer(),
  as: 'badge',
  says: 'a badge of the group',
  find: ({ db, group }: Has<{ group: Group }>, id) => badges.find(db, badges.ofGroup(group), id),
})

export const listGroupBadges = operation({
  method: 'GET',
  path: '/groups/:id/badges',
  summary: 'List the badges of a group, as they come out in its first project',
  published: true,
  params: listParams,
  gates: [group, insideGroup],
  handle: async (ctx) => {
    const { db, group, params, page } = ctx
    const found = await badges.list(db, badges.ofGroup(group), {
      name: params.name,
      limit: page.size,
      offset: page.offset,
    })
    const values = await valuesInGroup(ctx, group, found.items)
    return { ...found, items: found.items.map((row) => present(row, values)) }
  },
  returns: pageOf(Badge),
})

export const renderGroupBadge = operation({
  method: 'GET',
  path: '/groups/:id/badges/render',
  summary: 'Show how a badge would come out in a group',
  published: true,
  first: [signedIn],
  params: previewParams,
  gates: [group, groupOwner],
  handle: async (ctx) => {
    const row = { name: null, ...checkUrls(ctx.params) }
    return presentPreview(row, await valuesInGroup(ctx, ctx.group, [row]))
  },
  returns: BadgePreview,
  refuses: [badUrls],
})

export const getGroupBadge = operation({
  method: 'GET',
  path: '/groups/:id/badges/:badge_id',
  summary: 'Get a badge of a group',
  published: true,
  gates: [group, insideGroup, badge],
  handle: async (ctx) => present(ctx.badge, await valuesInGroup(ctx, ctx.group, [ctx.badge])),
  returns: Badge,
})

export const createGroupBadge = operation({
  method: 'POST',
  path: '/groups/:id/badges',
  summary: 'Add a badge to a group',
  published: true,
  first: [signedIn],
  params: newParams,
  gates: [group, groupOwner],
  handle: async (ctx) => {
    const { link_url, image_url, name = null } = checkUrls(ctx.params)
    const row = await badges.insert(ctx.db, {
      group_id: ctx.group.id,
      project_id: null,
      name,
      link_url,
      image_url,
    })
    return present(row, await valuesInGroup(ctx, ctx.group, [row]))
  },
  returns: Badge,
  refuses: [badUrls],
})

export const updateGroupBadge = operation({
  method: 'PUT',
  path: '/groups/:id/badges/:badge_id',
  summary: 'Change a badge of a group',
  published: true,
  first: [signedIn],
  params: changeParams,
  gates: [group, groupOwner, badge],
  handle: async (ctx) => {
    const { link_url = null, image_url = null, name = null } = checkUrls(ctx.params)
    const row = await badges.update(ctx.db, badges.ofGroup(ctx.group), {
      id: ctx.badge.id,
      link_url,
      image_url,
      name,
    })
    if (row === undefined) throw noSuchRecord()
    return present(row, await valuesInGroup(ctx, ctx.group, [row]))
  },
  returns: Badge,
  refuses: [badUrls],
})

export const deleteGroupBadge = operation({
  method: 'DELETE',
  path: '/groups/:id/badges/:badge_id',
  summary: 'Remove a badge from a group',
  published: true,
  first: [signedIn],
  gates: [group, groupOwner, badge, unmodified('badge')],
  handle: async ({ db, group, badge }) => {
    if ((await badges.remove(db, badges.ofGroup(group), badge.id)) === 0) throw noSuchRecord()
    return null
  },
  returns: nothing,
})
