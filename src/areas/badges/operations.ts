import { Type as t } from 'typebox'
import { anyone, maintainer, project, signedIn, unmodified } from '../../access/gates.ts'
import type { Project } from '../../core/projects.ts'
import type { Badge as Row } from '../../db/schema_badges.ts'
import { allows, loads, type Has } from '../../http/gate.ts'
import { nothing, operation, pageOf } from '../../http/operation.ts'
import { forbidden, noSuchRecord } from '../../http/problems.ts'
import { Badge, BadgePreview, present, presentPreview } from './entity.ts'
import { badUrls, changeParams, checkUrls, listParams, newParams, previewParams } from './params.ts'
import { valuesInProject } from './rendering.ts'
import * as badges from './store.ts'

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
  find: ({ db, project }: Has<{ project: Project }>, id) => badges.find(db, badges.ofProject(project), id),
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
  handle: async (ctx) => {
    const { db, project, params, page } = ctx
    const found = await badges.list(db, badges.ofProject(project), {
      name: params.name,
      limit: page.size,
      offset: page.offset,
    })
    const values = await valuesInProject(ctx, project, found.items)
    return { ...found, items: found.items.map((row) => present(row, values)) }
  },
  returns: pageOf(Badge),
})

export const renderBadge = operation({
  method: 'GET',
  path: '/projects/:id/badges/render',
  summary: 'Show how a badge would come out in a project',
  published: true,
  first: [signedIn],
  params: previewParams,
  gates: [project, maintainer],
  handle: async (ctx) => {
    const row = { name: null, ...checkUrls(ctx.params) }
    return presentPreview(row, await valuesInProject(ctx, ctx.project, [row]))
  },
  returns: BadgePreview,
  refuses: [badUrls],
})

export const getBadge = operation({
  method: 'GET',
  path: '/projects/:id/badges/:badge_id',
  summary: 'Get a badge of a project or of one of its groups',
  gates: [project, anyone, badge],
  handle: async (ctx) => present(ctx.badge, await valuesInProject(ctx, ctx.project, [ctx.badge])),
  returns: Badge,
})

export const createBadge = operation({
  method: 'POST',
  path: '/projects/:id/badges',
  summary: 'Add a badge to a project',
  first: [signedIn],
  params: newParams,
  gates: [project, maintainer],
  handle: async (ctx) => {
    const { link_url, image_url, name = null } = checkUrls(ctx.params)
    const row = await badges.insert(ctx.db, {
      group_id: null,
      project_id: ctx.project.id,
      name,
      link_url,
      image_url,
    })
    return present(row, await valuesInProject(ctx, ctx.project, [row]))
  },
  returns: Badge,
  refuses: [badUrls],
})

export const updateBadge = operation({
  method: 'PUT',
  path: '/projects/:id/badges/:badge_id',
  summary: 'Change a badge of a project',
  first: [signedIn],
  params: changeParams,
  gates: [project, maintainer, badge, ownBadge],
  handle: async (ctx) => {
    const { link_url = null, image_url = null, name = null } = checkUrls(ctx.params)
    const row = await badges.update(ctx.db, badges.ofProject(ctx.project), {
      id: ctx.badge.id,
      link_url,
      image_url,
      name,
    })
    if (row === undefined) throw noSuchRecord()
    return present(row, await valuesInProject(ctx, ctx.project, [row]))
  },
  returns: Badge,
  refuses: [badUrls],
})

export const deleteBadge = operation({
  method: 'DELETE',
  path: '/projects/:id/badges/:badge_id',
  summary: 'Remove a badge from a project',
  published: true,
  first: [signedIn],
  gates: [project, maintainer, badge, ownBadge, unmodified('badge')],
  handle: async ({ db, project, badge }) => {
    if ((await badges.remove(db, badges.ofProject(project), badge.id)) === 0) throw noSuchRecord()
    return null
  },
  returns: nothing,
})
