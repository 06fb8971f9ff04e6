import { Type as t } from 'typebox'
import { group, groupOwner, insideGroup, signedIn } from '../../access/gates/gates.ts'
import type { Group } from '../../core/places/groups.ts'
import { loads, type Has } from '../../http/gate.ts'
import { nothing, operation, pageOf } from '../../http/operation.ts'
import { invalid } from '../../http/problems.ts'
import * as badges from './actions.ts'
import { Badge, BadgePreview } from './entity.ts'
import { changeParams, listParams, newParams, previewParams } from './params.ts'
import { BLOCKED } from './rules.ts'
import { find as findBadge } from './store.ts'

const badge = loads({
  param: 'badge_id',
  type: t.Integer(),
  as: 'badge',
  says: 'a badge of the group',
  find: ({ db, group }: Has<{ group: Group }>, id) => findBadge(db, badges.ofGroup(group).reach, id),
})

export const listGroupBadges = operation({
  method: 'GET',
  path: '/groups/:id/badges',
  summary: 'List the badges of a group, rendered for its first project',
  published: true,
  params: listParams,
  gates: [group, insideGroup],
  handle: (ctx) => badges.list(ctx, badges.ofGroup(ctx.group)),
  returns: pageOf(Badge),
})

export const renderGroupBadge = operation({
  method: 'GET',
  path: '/groups/:id/badges/render',
  summary: 'Preview a badge of a group',
  published: true,
  first: [signedIn],
  params: previewParams,
  gates: [group, groupOwner],
  handle: (ctx) => badges.preview(ctx, badges.ofGroup(ctx.group)),
  returns: BadgePreview,
  refuses: [invalid({ link_url: [BLOCKED] })],
})

export const getGroupBadge = operation({
  method: 'GET',
  path: '/groups/:id/badges/:badge_id',
  summary: 'Get a badge of a group',
  published: true,
  gates: [group, insideGroup, badge],
  handle: (ctx) => badges.show(ctx, ctx.badge, badges.ofGroup(ctx.group)),
  returns: Badge,
})

export const createGroupBadge = operation({
  method: 'POST',
  path: '/groups/:id/badges',
  summary: 'Add a badge to a group',
  published: true,
  moves: 'rows',
  first: [signedIn],
  params: newParams,
  gates: [group, groupOwner],
  handle: (ctx) => badges.create(ctx, badges.ofGroup(ctx.group)),
  returns: Badge,
  refuses: [invalid({ link_url: [BLOCKED] })],
})

export const updateGroupBadge = operation({
  method: 'PUT',
  path: '/groups/:id/badges/:badge_id',
  summary: 'Change a badge of a group',
  published: true,
  moves: 'rows',
  first: [signedIn],
  params: changeParams,
  gates: [group, groupOwner, badge],
  handle: (ctx) => badges.change(ctx, badges.ofGroup(ctx.group)),
  returns: Badge,
  refuses: [invalid({ link_url: [BLOCKED] })],
})

export const deleteGroupBadge = operation({
  method: 'DELETE',
  path: '/groups/:id/badges/:badge_id',
  summary: 'Remove a badge from a group',
  published: true,
  moves: 'rows',
  first: [signedIn],
  gates: [group, groupOwner, badge],
  handle: (ctx) => badges.remove(ctx, badges.ofGroup(ctx.group)),
  returns: nothing,
})
