import { Type as t } from 'typebox'
import { digestOf, makeToken } from '../../access/tokens.ts'
import { REGISTRATION_PREFIX, setRegistrationToken } from '../../ci/runners/registration.ts'
import { anyone, group, groupOwner, signedIn } from '../../access/gates/gates.ts'
import { includes } from '../../core/settings/plans.ts'
import { findGroup } from '../../core/places/group_sight.ts'
import { settingsOf } from '../../core/places/group_settings.ts'
import { addressFaults, removeTree } from '../../core/places/group_tree.ts'
import { create, holdNamespace, type Group as GroupRow } from '../../core/places/groups.ts'
import { setInGroup } from '../../core/people/members.ts'
import { ROLES } from '../../core/sight/roles.ts'
import { narrower } from '../../core/values/visibilities.ts'
import type { Actor, Context } from '../../http/gate.ts'
import { operation } from '../../http/operation.ts'
import { badParams, forbidden, invalid, notFound, refused, type Problem } from '../../http/problems.ts'
import { Group } from './entity.ts'
import {
  groupFaults,
  mayCreateSubgroup,
  nestingFaults,
  notSaved,
  visibilityFaults,
  type Faults,
} from './rules.ts'
import { paidParams, settingParams, settingsIn, together, type Given } from './settings.ts'
import { change } from './update_group.ts'
import { presentWhole } from './group_details.ts'
import { mayCreateGroup } from './write_store.ts'

export {
  listDescendantGroups,
  listGroups,
  listGroupsSharedWithGroup,
  listInvitedGroups,
  listSubgroups,
} from './list_operations.ts'
export {
  deleteGroupCustomAttribute,
  getGroupCustomAttribute,
  listGroupCustomAttributes,
  setGroupCustomAttribute,
} from './custom_attribute_operations.ts'
export { listGroupProjects, listProjectsSharedWithGroup } from './project_operations.ts'
export { shareGroup, unshareGroup } from './share_operations.ts'
export { addProjectToGroup, listGroupTransferLocations, transferGroup } from './transfer_operations.ts'

export const getGroup = operation({
  method: 'GET',
  path: '/groups/:id',
  summary: 'Get a group',
  params: t.Object({
    with_custom_attributes: t.Boolean({ default: false, description: 'For administrators' }),
    with_projects: t.Boolean({ default: true, deprecated: true, description: 'Deprecated' }),
  }),
  gates: [group, anyone],
  handle: async (ctx) =>
    presentWhole(ctx, ctx.group, {
      withProjects: ctx.params.with_projects,
      withCustomAttributes: ctx.params.with_custom_attributes,
    }),
  returns: Group,
})

const refuseSaving = (faults: Faults): void => {
  if (Object.keys(faults).length > 0) throw refused(notSaved(faults))
}
const TAKEN = { path: ['has already been taken'] }

export const createGroup = operation({
  method: 'POST',
  path: '/groups',
  summary: 'Create a group, at the top or in another',
  published: true,
  first: [signedIn],
  params: t.Object(
    {
      name: t.String(),
      path: t.String(),
      parent_id: t.Optional(t.Integer()),
      ...settingParams,
      ...paidParams,
    },
    together,
  ),
  gates: [],
  handle: async (ctx) => {
    const { db, actor, params, vault } = ctx
    checkGiven(actor, params)
    const parent = await parentFor(ctx, actor, params.parent_id)
    const standing = ctx.settings.get('default_group_visibility')
    const visibility = params.visibility ?? narrower(standing, parent?.visibility ?? standing)
    refuseSaving({
      ...groupFaults(params, parent === undefined),
      ...nestingFaults(parent),
      ...visibilityFaults({ visibility, parent: parent?.visibility }),
    })
    const registration = makeToken(REGISTRATION_PREFIX)
    const row = await create(db, {
      parent,
      name: params.name,
      path: params.path,
      visibility,
      description: params.description ?? '',
      settings: firstSettings(ctx, params),
      runners_token: vault.seal(registration),
      by: actor.id,
    }).catch((error: unknown) => {
      const faults = addressFaults(error)
      throw faults ? refused(notSaved(faults)) : error
    })
    const owner = { user_id: actor.id, namespace_id: row.id, access_level: ROLES.owner, expires_at: null }
    await setInGroup(db, owner)
    await setRegistrationToken(db, { group_id: row.id, project_id: null }, digestOf(registration))
    return presentWhole(ctx, { ...row, role: ROLES.owner })
  },
  returns: Group,
  refuses: [refused(notSaved(TAKEN)), notFound('Group'), forbidden],
})

/** Parameters that are refused, or need an administrator. */
function checkGiven(actor: Actor, given: Given): void {
  // A fence that does not hold is worse than none.
  if (given.ip_restriction_ranges) throw badParams(['ip_restriction_ranges is not supported'])
  const limits = [given.shared_runners_minutes_limit, given.extra_shared_runners_minutes_limit]
  if (limits.some((limit) => limit !== undefined) && !actor.admin) throw forbidden()
}

/** The group to create in, held where it is; undefined for the top. */
async function parentFor(
  { db }: Context,
  actor: Actor,
  id: number | undefined,
): Promise<GroupRow | undefined> {
  if (id === undefined) {
    if (!(await mayCreateGroup(db, actor))) throw forbidden()
    return undefined
  }
  await holdNamespace(db, id)
  const parent = await findGroup(db, actor, id)
  if (parent === undefined) throw notFound('Group')
  if (!mayCreateSubgroup(actor, parent)) throw forbidden()
  return parent
}

function firstSettings({ settings }: Context, given: Given): object {
  const level = given.default_branch_protection ?? settings.get('default_branch_protection')
  return settingsIn(
    { ...given, default_branch_protection: level },
    settingsOf({ settings: {} }),
    includes(settings.get('tier'), 'premium'),
  )
}

export const updateGroup = operation({
  method: 'PUT',
  path: '/groups/:id',
  summary: 'Change a group',
  published: true,
  first: [signedIn],
  params: t.Object(
    {
      name: t.Optional(t.String()),
      path: t.Optional(t.String()),
      prevent_sharing_groups_outside_hierarchy: t.Optional(
        t.Boolean({ description: 'For top-level groups' }),
      ),
      ...settingParams,
      ...paidParams,
    },
    together,
  ),
  gates: [group, groupOwner],
  handle: async (ctx) => {
    checkGiven(ctx.actor, ctx.params)
    const row = await change(ctx, ctx.group, ctx.params)
    return presentWhole(ctx, { ...row, role: ctx.group.role })
  },
  returns: Group,
  refuses: [invalid(TAKEN)],
})

const onlySubgroups = (): Problem => refused('`permanently_remove` option is only available for subgroups.')
const wrongPath = (): Problem =>
  refused('`full_path` is incorrect. You must enter the complete path for the subgroup.')

export const deleteGroup = operation({
  method: 'DELETE',
  path: '/groups/:id',
  summary: 'Delete a group with its subgroups and projects',
  published: true,
  first: [signedIn],
  params: t.Object({
    permanently_remove: t.Optional(t.Boolean({ description: 'Every deletion is; this one is confirmed' })),
    full_path: t.Optional(t.String({ description: 'The confirmation' })),
  }),
  gates: [group, groupOwner],
  handle: async ({ db, actor, group, params }) => {
    if (params.permanently_remove) {
      if (group.parent_id === null) throw onlySubgroups()
      if (params.full_path !== group.full_path) throw wrongPath()
    }
    await removeTree(db, group.id, actor.id)
    return { message: '202 Accepted' }
  },
  status: 202,
  returns: t.Object({ message: t.String() }),
  refuses: [onlySubgroups, wrongPath],
})
