import { Type as t } from 'typebox'
import { group, groupOwner, signedIn } from '../../access/gates/gates.ts'
import { settingsOf } from '../../core/places/group_settings.ts'
import { findGroup } from '../../core/places/group_sight.ts'
import type { Group as GroupRow } from '../../core/places/groups.ts'
import { violates } from '../../db/errors.ts'
import { loads, type Has } from '../../http/gate.ts'
import { nothing, operation } from '../../http/operation.ts'
import { conflict, noSuchRecord, notFound, type Problem } from '../../http/problems.ts'
import { date } from '../../http/params/schema.ts'
import { Group } from './entity.ts'
import { presentWhole } from './group_details.ts'
import { findRoot, findShare, insertShare, removeShare } from './write_store.ts'

const sharedAlready = (): Problem =>
  conflict('Shared group The group has already been shared with this group')

export const shareGroup = operation({
  method: 'POST',
  path: '/groups/:id/share',
  summary: 'Share a group with another group',
  published: true,
  first: [signedIn],
  params: t.Object({
    group_id: t.Integer(),
    group_access: t.Integer({ enum: [10, 15, 20, 30, 40, 50], description: 'The most it gives them' }),
    expires_at: t.Optional(date()),
  }),
  gates: [group, groupOwner],
  handle: async (ctx) => {
    const { db, actor, group, params } = ctx
    const invited = await findGroup(db, actor, params.group_id)
    if (invited === undefined) throw notFound('Group')
    const root = await findRoot(db, group)
    const outside = invited.traversal_ids[0] !== root?.id
    const fenced = root !== undefined && settingsOf(root).prevent_sharing_groups_outside_hierarchy
    if (invited.id === group.id || (outside && fenced)) throw noSuchRecord()
    const link = await insertShare(db, {
      shared_group_id: group.id,
      shared_with_group_id: invited.id,
      group_access: params.group_access,
      expires_at: params.expires_at ?? null,
    }).catch((error: unknown) => {
      throw violates(error, 'group_group_links_shared_with_group_id_fkey') ? notFound('Group') : error
    })
    if (link === undefined) throw sharedAlready()
    return presentWhole(ctx, group)
  },
  returns: Group,
  refuses: [sharedAlready, notFound('Group'), noSuchRecord],
})

const noLink = (): Problem => notFound('Group Link')
const link = loads({
  param: 'group_id',
  type: t.Integer(),
  as: 'link',
  says: 'a group that it is shared with',
  missing: noLink,
  find: ({ db, group }: Has<{ group: GroupRow }>, id) => findShare(db, group.id, id),
})

export const unshareGroup = operation({
  method: 'DELETE',
  path: '/groups/:id/share/:group_id',
  summary: 'Delete the share of a group with another',
  published: true,
  first: [signedIn],
  gates: [group, groupOwner, link],
  handle: ({ db, group, link }) => removeShare(db, group.id, link.id),
  returns: nothing,
})
