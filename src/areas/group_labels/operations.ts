import { Type as t } from 'typebox'
import { group, groupReporter, insideGroup, signedIn } from '../../access/gates/gates.ts'
import type { Label } from '../../db/schema/tables.ts'
import { nothing, operation, pageOf } from '../../http/operation.ts'
import { invalid } from '../../http/problems.ts'
import {
  GroupLabel,
  BAD_COLOR,
  labelExists,
  labelLocked,
  present,
  titleTaken,
  type LabelForCaller,
} from '../../records/planning/label.ts'
import {
  changeLabel,
  discardLabel,
  labelChanges,
  makeLabel,
  newLabel,
} from '../../records/planning/label_writing.ts'
import { LINE, label, labelInReach, labelNamed, reachOf, reachParams } from './gates.ts'
import * as labels from './store.ts'
import { presentPage } from '../../http/answers/pages.ts'

export { subscribeToGroupLabel, unsubscribeFromGroupLabel } from './subscription_operations.ts'

export const listGroupLabels = operation({
  method: 'GET',
  path: '/groups/:id/labels',
  summary: 'List the labels of a group',
  first: [signedIn],
  params: t.Object({
    with_counts: t.Boolean({ default: false, description: 'Counts are always there' }),
    search: t.Optional(t.String({ description: 'Part of the title or description' })),
    ...reachParams,
  }),
  gates: [group, insideGroup],
  handle: async ({ db, actor, group, params, page }) => {
    const found = await labels.listLabels(
      db,
      actor,
      { group, reach: reachOf(params) },
      { search: params.search ?? '', ...page },
    )
    return presentPage(found, present)
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
  params: t.Object(newLabel),
  gates: [group, groupReporter],
  handle: async ({ db, actor, group, params }) => {
    const home = { group_id: group.id, project_id: null }
    const row = await makeLabel(db, home, params, (title) =>
      labels.findByTitle(db, actor, { group, reach: LINE }, title),
    )
    return present(fresh(row))
  },
  returns: GroupLabel,
  refuses: [labelExists, invalid({ color: [BAD_COLOR] })],
})

/** Nothing hangs on a label that was made this moment. */
const fresh = (row: Label): LabelForCaller => ({
  ...row,
  open_issues_count: 0,
  closed_issues_count: 0,
  open_merge_requests_count: 0,
  subscribed: false,
})

const atLeastOne = Object.keys(labelChanges)

export const updateGroupLabel = operation({
  method: 'PUT',
  path: '/groups/:id/labels/:label_id',
  summary: 'Change a label of a group',
  first: [signedIn],
  params: t.Object(labelChanges, { atLeastOne }),
  gates: [group, groupReporter, label],
  handle: async ({ db, actor, label, params }) =>
    present(await labels.forCaller(db, actor, await changeLabel(db, label, params))),
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
    { label_id: t.Optional(t.Integer()), name: t.Optional(t.String()), ...labelChanges },
    { exactlyOne: ['label_id', 'name'], atLeastOne },
  ),
  gates: [group, groupReporter, labelNamed],
  handle: async ({ db, actor, label, params }) =>
    present(await labels.forCaller(db, actor, await changeLabel(db, label, params))),
  returns: GroupLabel,
  refuses: [titleTaken],
})

export const deleteGroupLabel = operation({
  method: 'DELETE',
  path: '/groups/:id/labels/:label_id',
  summary: 'Delete a label of a group',
  published: true,
  first: [signedIn],
  gates: [group, groupReporter, label],
  handle: ({ db, label }) => discardLabel(db, label),
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
  gates: [group, groupReporter, labelNamed],
  handle: ({ db, label }) => discardLabel(db, label),
  returns: nothing,
  refuses: [labelLocked],
})
