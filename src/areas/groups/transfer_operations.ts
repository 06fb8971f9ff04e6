import { Type as t } from 'typebox'
import { administrator, group, groupOwner, signedIn } from '../../access/gates/gates.ts'
import { leaveGroupsWithEpics } from '../../core/places/epic_transfer.ts'
import { findGroup } from '../../core/places/group_sight.ts'
import { addressFaults, holdTree, isTaken, placeGroup } from '../../core/places/group_tree.ts'
import { holdNamespace, type Group as GroupRow } from '../../core/places/groups.ts'
import { setInGroup } from '../../core/people/members.ts'
import { reservedFault } from '../../core/places/paths.ts'
import { leaveGroupsBelow, transfer } from '../../core/places/project_transfer.ts'
import { findByRef } from '../../core/places/projects.ts'
import { ROLES } from '../../core/sight/roles.ts'
import { narrower } from '../../core/values/visibilities.ts'
import { violates } from '../../db/errors.ts'
import type { Namespace } from '../../db/schema/tables.ts'
import { loads, type Has } from '../../http/gate.ts'
import { operation, pageOf } from '../../http/operation.ts'
import { notFound, refused, type Problem } from '../../http/problems.ts'
import { GroupPlace, presentPlace } from '../../records/places/group_place.ts'
import { Group } from './entity.ts'
import { mayCreateSubgroup, nestingFaults } from './rules.ts'
import { listTransferLocations } from './transfer_store.ts'
import { presentWhole } from './group_details.ts'
import { hasOwner, mayCreateGroup } from './write_store.ts'
import { presentPage } from '../../http/answers/pages.ts'

const failed = (why: string): Problem => refused(`Transfer failed: ${why}`)
const pathTaken = (): Problem =>
  failed('The parent group already has a subgroup or a project with the same path.')
const alreadyRoot = (): Problem => failed('Group is already a root group.')
const alreadyThere = (): Problem => failed('Group is already associated to the parent group.')
const notAllowed = (): Problem => failed("You don't have enough permissions.")
const intoItself = (): Problem => failed('Cannot transfer group to one of its subgroup.')

export const transferGroup = operation({
  method: 'POST',
  path: '/groups/:id/transfer',
  summary: 'Transfer a group into another, or to the top level',
  published: true,
  first: [signedIn],
  params: t.Object({
    group_id: t.Optional(t.Integer({ description: 'Where to; without it, to the top' })),
  }),
  gates: [group, groupOwner],
  handle: async (ctx) => {
    const { db, actor, group, params } = ctx
    const target = params.group_id === undefined ? undefined : await targetOf(ctx, params.group_id)
    const below = await holdTree(db, group.id)
    const now = await holdNamespace(db, group.id)
    // Held after the tree, so that what it is in by now shows.
    const parent = target && (await holdNamespace(db, target.id))
    if (now === undefined || (target && parent === undefined)) throw notFound('Group')
    const allowed = target ? mayCreateSubgroup(actor, target) : await mayCreateGroup(db, actor)
    checkTransfer(now, { target, below, allowed })
    const row = await placeGroup(db, { ...now, parent_id: target?.id ?? null }).catch((error: unknown) => {
      const [long] = addressFaults(error)?.['full_path'] ?? []
      throw isTaken(error) ? pathTaken() : long ? failed(`Validation failed: Full path ${long}`) : error
    })
    const left = now.traversal_ids.filter((id) => !row.traversal_ids.includes(id))
    await leaveGroupsBelow(db, group.id, left)
    await leaveGroupsWithEpics(db, group.id, left)
    if (target === undefined && !(await hasOwner(db, group.id)))
      await setInGroup(db, {
        user_id: actor.id,
        namespace_id: group.id,
        access_level: ROLES.owner,
        expires_at: null,
      })
    const role = (await findGroup(db, actor, group.id))?.role ?? 0
    return presentWhole(ctx, { ...row, role })
  },
  returns: Group,
  refuses: [pathTaken, alreadyRoot, alreadyThere, notAllowed, intoItself, notFound('Group')],
})

async function targetOf({ db, actor }: Has<{ group: GroupRow }>, id: number): Promise<GroupRow> {
  const found = await findGroup(db, actor, id)
  if (found === undefined) throw notFound('Group')
  return found
}

interface Where {
  readonly target: GroupRow | undefined
  /** The group and all below it. */
  readonly below: readonly number[]
  readonly allowed: boolean
}

/** Throws the first reason why a group cannot go there, in the published order. */
function checkTransfer(now: Namespace, { target, below, allowed }: Where): void {
  if (target === undefined && now.parent_id === null) throw alreadyRoot()
  if (target !== undefined && target.id === now.parent_id) throw alreadyThere()
  if (!allowed) throw notAllowed()
  if (target !== undefined && below.includes(target.id)) throw intoItself()
  const reserved = target === undefined ? reservedFault(now.path) : undefined
  if (reserved !== undefined) throw failed(`Validation failed: Path ${reserved}`)
  const [deep] = Object.values(nestingFaults(target)).flat()
  if (deep !== undefined) throw failed(`Validation failed: Parent ${deep}`)
}

export const listGroupTransferLocations = operation({
  method: 'GET',
  path: '/groups/:id/transfer_locations',
  summary: 'List the groups that a group can be transferred into',
  published: true,
  params: t.Object({ search: t.Optional(t.String({ description: 'Part of the name or path' })) }),
  gates: [group, signedIn, groupOwner],
  handle: async (ctx) => {
    const { db, actor, group, params, page } = ctx
    const found = await listTransferLocations(db, actor, group, {
      search: params.search ?? '',
      ...page,
    })
    return presentPage(found, (row) => presentPlace(row, ctx))
  },
  returns: pageOf(GroupPlace),
})

const anyProject = loads({
  param: 'project_id',
  type: t.String({ description: 'The id or the URL-encoded full path of a project' }),
  as: 'project',
  says: 'a project, wherever it is',
  missing: () => notFound('Project'),
  find: ({ db }, ref) => findByRef(db, ref),
})

const notMoved = (why: string): Problem => refused(`Failed to transfer project {:new_namespace=>["${why}"]}`)
const inTheWay = (): Problem => notMoved('Project with same name or path in target namespace already exists')
const alreadyIn = (): Problem => notMoved('Project is already in this namespace.')

export const addProjectToGroup = operation({
  method: 'POST',
  path: '/groups/:id/projects/:project_id',
  summary: 'Transfer a project into a group',
  published: true,
  first: [signedIn, administrator],
  gates: [group, anyProject],
  handle: async (ctx) => {
    const { db, group, project } = ctx
    if (project.namespace_id === group.id) throw alreadyIn()
    const visibility = narrower(project.visibility, group.visibility)
    await transfer(db, { id: project.id, namespace_id: group.id, visibility }).catch((error: unknown) => {
      throw isTaken(error) || violates(error, 'projects_name_key') ? inTheWay() : error
    })
    return presentWhole(ctx, group)
  },
  returns: Group,
  refuses: [inTheWay, alreadyIn],
})
