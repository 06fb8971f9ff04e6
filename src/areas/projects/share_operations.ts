import { Type as t } from 'typebox'
import { maintainer, projectEvenArchived as project, signedIn } from '../../access/gates/gates.ts'
import { ROLES } from '../../core/sight/roles.ts'
import { loads, type Has } from '../../http/gate.ts'
import { nothing, operation } from '../../http/operation.ts'
import { conflict, forbidden, notFound, refused, type Problem } from '../../http/problems.ts'
import { date, nullable } from '../../http/params/schema.ts'
import type { Project } from '../../core/places/projects.ts'
import { seesGroup } from '../../core/places/target_namespace.ts'
import * as shares from './share_store.ts'

const Share = t.Object({
  id: t.Integer(),
  project_id: t.Integer(),
  group_id: t.Integer(),
  group_access: t.Integer(),
  expires_at: nullable(date()),
})

const noGroup = (): Problem => notFound('Group')
const shared = (): Problem => conflict('Group already shared with this group')
const ownGroup = (): Problem =>
  conflict('Project cannot be shared with the group it is in or one of its ancestors.')
const locked = (): Problem => refused('The project sharing with group is disabled')

export const shareProject = operation({
  method: 'POST',
  path: '/projects/:id/share',
  summary: 'Share a project with a group',
  published: true,
  first: [signedIn],
  params: t.Object({
    group_id: t.Integer(),
    group_access: t.Unsafe<number>({
      type: 'integer',
      enum: [ROLES.guest, ROLES.planner, ROLES.reporter, ROLES.developer, ROLES.maintainer, ROLES.owner],
    }),
    expires_at: t.Optional(date()),
  }),
  gates: [project, maintainer],
  handle: async ({ db, actor, project, params }) => {
    const { group_id, group_access, expires_at } = params
    if (!(await seesGroup(db, actor, group_id))) throw noGroup()
    // Callers grant at most their own role.
    if (!actor.admin && group_access > project.role) throw forbidden()
    if (await shares.isLocked(db, project.namespace_id)) throw locked()
    if (project.traversal_ids.includes(group_id)) throw ownGroup()
    const link = { project_id: project.id, group_id, group_access, expires_at: expires_at ?? null }
    const row = await shares.share(db, link)
    if (row === undefined) throw shared()
    return row
  },
  returns: Share,
  refuses: [noGroup, shared, ownGroup, locked],
})

export const unshareProject = operation({
  method: 'DELETE',
  path: '/projects/:id/share/:group_id',
  summary: 'Delete the share of a project with a group',
  published: true,
  first: [signedIn],
  gates: [
    project,
    maintainer,
    loads({
      param: 'group_id',
      type: t.Integer(),
      as: 'share',
      says: 'a share of the project, by its group',
      missing: () => notFound('Group Link'),
      find: ({ db, project }: Has<{ project: Project }>, id) => shares.find(db, project.id, id),
    }),
  ],
  handle: async ({ db, project, share }) => {
    await shares.unshare(db, project.id, share.group_id)
    return null
  },
  returns: nothing,
})
