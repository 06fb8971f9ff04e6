import { Type as t } from 'typebox'
import { group, groupReporter, insideGroup, signedIn, unmodified } from '../../access/gates.ts'
import type { Group } from '../../core/groups.ts'
import { violates } from '../../db/errors.ts'
import type { Label } from '../../db/schema.ts'
import type { Context } from '../../http/gate.ts'
import { nothing, operation, pageOf } from '../../http/operation.ts'
import {
  GroupLabel,
  badLabel,
  checkLabel,
  labelDescription,
  labelExists,
  labelLocked,
  present,
  titleTaken,
  type LabelForCaller,
} from '../../records/label.ts'
import { LINE, label, labelInReach, labelNamed, noLabel, reachOf, reachParams, type Here } from './gates.ts'
import * as labels from './store.ts'
import { insert, remove, update } from './write_store.ts'

export { subscribeToGroupLabel, unsubscribeFromGroupLabel } from './subscription_operations.ts'

export const listGroupLabels = operation({
  method: 'GET',
  path: '/groups/:id/labels',
  summary: 'List the labels of a group',
  first: [signedIn],
  params: t.Object({
    with_counts: t.Optional(t.Boolean({ default: false, description: 'Counts are always there' })),
    search: t.Optional(t.String({ description: 'Part of the title or description' })),
    ...reachParams,
  }),
  gates: [group, insideGroup],
  handle: async ({ db, actor, group, params, page }) => {
    const found = await labels.listLabels(
      db,
      actor,
      { group, reach: reachOf(params) },
      { search: params.search ?? '', limit: page.size, offset: page.offset },
    )
    return { ...found, items: found.items.map(present) }
  },
  returns: pageOf(GroupLabel),
})

export const getGroupLabel = operation({
  method: 'GET',
  path: '/groups/:id/labels/:label_id',
  summary: 'Get a label of a group',
  first: [signedIn],
  params: t.Object(reachParams),
  gates: [group, insideGroup, labelInReach],
  handle: async ({ db, actor, label }) => present(await labels.forCaller(db, actor, label)),
  returns: GroupLabel,
})

export const createGroupLabel = operation({
  method: 'POST',
  path: '/groups/:id/labels',
  summary: 'Create a label in a group',
  first: [signedIn],
  params: t.Object({ name: t.String(), color: t.String(), description: labelDescription }),
  gates: [group, groupReporter],
  handle: async (ctx) => {
    const { db, actor, group, params } = ctx
    const { title, color } = checkLabel({ title: params.name, color: params.color })
    if (await labels.findByTitle(db, actor, { group, reach: LINE }, title)) throw labelExists()
    const row = await insert(db, {
      group_id: group.id,
      title,
      color,
      description: params.description || null,
    }).catch((error: unknown) => {
      throw violates(error, 'labels_group_title_once') ? labelExists() : error
    })
    if (row === undefined) throw new Error('a label was not inserted')
    return present(fresh(row))
  },
  returns: GroupLabel,
  refuses: [labelExists, badLabel],
})

/** Nothing hangs on a label that was made this moment. */
const fresh = (row: Label): LabelForCaller => ({
  ...row,
  open_issues_count: 0,
  closed_issues_count: 0,
  open_merge_requests_count: 0,
  subscribed: false,
})

const changes = {
  new_name: t.Optional(t.String()),
  color: t.Optional(t.String()),
  description: labelDescription,
}
const atLeastOne = ['new_name', 'color', 'description']
interface Changes {
  readonly new_name?: string
  readonly color?: string
  readonly description?: string | null
}

async function change({ db, actor, group }: Here, label: Label, to: Changes): Promise<LabelForCaller> {
  const { title, color } = checkLabel({ title: to.new_name ?? label.title, color: to.color ?? label.color })
  const changes = {
    title: to.new_name === undefined ? null : title,
    color: to.color === undefined ? null : color,
    description: to.description === undefined ? null : (to.description ?? ''),
  }
  const row = await update(db, { group_id: group.id, id: label.id, ...changes }).catch((error: unknown) => {
    throw violates(error, 'labels_group_title_once') ? titleTaken() : error
  })
  if (row === undefined) throw noLabel()
  return labels.forCaller(db, actor, row)
}

export const updateGroupLabel = operation({
  method: 'PUT',
  path: '/groups/:id/labels/:label_id',
  summary: 'Change a label of a group',
  first: [signedIn],
  params: t.Object(changes, { atLeastOne }),
  gates: [group, groupReporter, label],
  handle: async (ctx) => present(await change(ctx, ctx.label, ctx.params)),
  returns: GroupLabel,
  refuses: [titleTaken],
})

export const updateGroupLabelByName = operation({
  method: 'PUT',
  path: '/groups/:id/labels',
  summary: 'Change a label of a group (deprecated: name it in the path)',
  deprecated: true,
  first: [signedIn],
  params: t.Object(
    { label_id: t.Optional(t.Integer()), name: t.Optional(t.String()), ...changes },
    { exactlyOne: ['label_id', 'name'], atLeastOne },
  ),
  gates: [group, groupReporter, labelNamed],
  handle: async (ctx) => present(await change(ctx, ctx.label, ctx.params)),
  returns: GroupLabel,
  refuses: [titleTaken],
})

async function discard({ db, group }: Context & { group: Group }, label: Label): Promise<null> {
  if (label.lock_on_merge) throw labelLocked()
  if ((await remove(db, group.id, label.id)) === 0) throw noLabel()
  return null
}

export const deleteGroupLabel = operation({
  method: 'DELETE',
  path: '/groups/:id/labels/:label_id',
  summary: 'Delete a label of a group',
  published: true,
  first: [signedIn],
  gates: [group, groupReporter, label, unmodified('label')],
  handle: async (ctx) => discard(ctx, ctx.label),
  returns: nothing,
  refuses: [labelLocked],
})

export const deleteGroupLabelByName = operation({
  method: 'DELETE',
  path: '/groups/:id/labels',
  summary: 'Delete a label of a group (deprecated: name it in the path)',
  deprecated: true,
  first: [signedIn],
  params: t.Object({ name: t.String() }),
  gates: [group, groupReporter, labelNamed, unmodified('label')],
  handle: async (ctx) => discard(ctx, ctx.label),
  returns: nothing,
  refuses: [labelLocked],
})
