import { includes } from '../../core/settings/plans.ts'
import { settingsOf } from '../../core/places/group_settings.ts'
import { addressFaults, holdTree, placeGroup } from '../../core/places/group_tree.ts'
import { holdNamespace } from '../../core/places/groups.ts'
import type { Namespace } from '../../db/schema/tables.ts'
import type { Context } from '../../http/gate.ts'
import { invalid, notFound } from '../../http/problems.ts'
import { groupFaults, visibilityFaults, type Faults } from './rules.ts'
import { settingsIn, type Given } from './settings.ts'
import { aroundVisibility, updateGroupRow } from './write_store.ts'

interface Changes extends Given {
  readonly name?: string
  readonly path?: string
  readonly prevent_sharing_groups_outside_hierarchy?: boolean
}

function refuse(faults: Faults): void {
  if (Object.keys(faults).length > 0) throw invalid(faults)
}

/** Changes a group. What others depend on, its address and who sees it, is changed while everything below is held. */
export async function change(ctx: Context, group: Namespace, to: Changes): Promise<Namespace> {
  const { db, settings } = ctx
  refuse(groupFaults(to, group.parent_id === null))
  const moves =
    (to.name ?? group.name) !== group.name ||
    (to.path ?? group.path) !== group.path ||
    (to.visibility ?? group.visibility) !== group.visibility
  if (moves) await moveInPlace(ctx, group, to)
  const root = group.parent_id === null
  const { prevent_sharing_groups_outside_hierarchy: fenced, enabled_git_access_protocol, ...given } = to
  const groupSettings = settingsIn(
    { ...given, ...(root && enabled_git_access_protocol && { enabled_git_access_protocol }) },
    settingsOf(group),
    includes(settings.get('tier'), 'premium'),
  )
  return updateGroupRow(db, {
    id: group.id,
    description: to.description === undefined ? null : (to.description ?? ''),
    visibility: to.visibility ?? null,
    clears_avatar: to.avatar !== undefined,
    settings: JSON.stringify({
      ...groupSettings,
      ...(root && fenced !== undefined && { prevent_sharing_groups_outside_hierarchy: fenced }),
    }),
  })
}

async function moveInPlace({ db }: Context, { id }: Namespace, to: Changes): Promise<void> {
  await holdTree(db, id)
  const now = await holdNamespace(db, id)
  if (now === undefined) throw notFound('Group')
  if (to.visibility !== undefined && to.visibility !== now.visibility)
    refuse(
      visibilityFaults({ visibility: to.visibility, ...(await aroundVisibility(db, now, to.visibility)) }),
    )
  const { name = now.name, path = now.path } = to
  if (name === now.name && path === now.path) return
  await placeGroup(db, { id, parent_id: now.parent_id, name, path }).catch((error: unknown) => {
    const faults = addressFaults(error)
    throw faults ? invalid(faults) : error
  })
}
