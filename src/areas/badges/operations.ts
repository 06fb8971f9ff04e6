import { Type as t } from 'typebox'
import { anyone, maintainer, project, signedIn } from '../../access/gates/gates.ts'
import type { Project } from '../../core/places/projects.ts'
import type { Badge as Row } from '../../db/schema/badges.ts'
import { allows, loads, type Has } from '../../http/gate.ts'
import { nothing, operation, pageOf } from '../../http/operation.ts'
import { forbidden, invalid } from '../../http/problems.ts'
import * as badges from './actions.ts'
import { Badge, BadgePreview } from './entity.ts'
import { changeParams, listParams, newParams, previewParams } from './params.ts'
import { BLOCKED } from './rules.ts'
import { find as findBadge } from './store.ts'

export {
  createGroupBadge,
  deleteGroupBadge,
  getGroupBadge,
  listGroupBadges,
  renderGroupBadge,
  updateGroupBadge,
} from './group_operations.ts'

const badge = loads({
  param: 'badge_id',
  type: t.Integer(),
  as: 'badge',
  says: 'a badge of the project or of a group that it is in',
  find: ({ db, project }: Has<{ project: Project }>, id) =>
    findBadge(db, badges.ofProject(project).reach, id),
})

const ownBadge = allows({
  says: 'a badge of the project itself: those of groups are changed there',
  refuses: forbidden,
  holds: ({ badge }: Has<{ badge: Row }>) => badge.project_id !== null,
})

export const listBadges = operation({
  method: 'GET',
  path: '/projects/:id/badges',
  summary: 'List the badges of a project, with those of its groups',
  params: listParams,
  gates: [project, anyone],
  handle: (ctx) => badges.list(ctx, badges.ofProject(ctx.project)),
  returns: pageOf(Badge),
})

export const renderBadge = operation({
  method: 'GET',
  path: '/projects/:id/badges/render',
  summary: 'Preview a badge of a project',
  published: true,
  first: [signedIn],
  params: previewParams,
  gates: [project, maintainer],
  handle: (ctx) => badges.preview(ctx, badges.ofProject(ctx.project)),
  returns: BadgePreview,
  refuses: [invalid({ link_url: [BLOCKED] })],
})

export const getBadge = operation({
  method: 'GET',
  path: '/projects/:id/badges/:badge_id',
  summary: 'Get a badge of a project or of one of its groups',
  gates: [project, anyone, badge],
  handle: (ctx) => badges.show(ctx, ctx.badge, badges.ofProject(ctx.project)),
  returns: Badge,
})

export const createBadge = operation({
  method: 'POST',
  path: '/projects/:id/badges',
  summary: 'Add a badge to a project',
  moves: 'rows',
  first: [signedIn],
  params: newParams,
  gates: [project, maintainer],
  handle: (ctx) => badges.create(ctx, badges.ofProject(ctx.project)),
  returns: Badge,
  refuses: [invalid({ link_url: [BLOCKED] })],
})

export const updateBadge = operation({
  method: 'PUT',
  path: '/projects/:id/badges/:badge_id',
  summary: 'Change a badge of a project',
  moves: 'rows',
  first: [signedIn],
  params: changeParams,
  gates: [project, maintainer, badge, ownBadge],
  handle: (ctx) => badges.change(ctx, badges.ofProject(ctx.project)),
  returns: Badge,
  refuses: [invalid({ link_url: [BLOCKED] })],
})

export const deleteBadge = operation({
  method: 'DELETE',
  path: '/projects/:id/badges/:badge_id',
  summary: 'Remove a badge from a project',
  published: true,
  moves: 'rows',
  first: [signedIn],
  gates: [project, maintainer, badge, ownBadge],
  handle: (ctx) => badges.remove(ctx, badges.ofProject(ctx.project)),
  returns: nothing,
})
