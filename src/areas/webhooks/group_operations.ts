import { Type as t } from 'typebox'
import { group, groupOwner, signedIn } from '../../access/gates/gates.ts'
import { premiumOrAbsent, premiumPlanOrAbsent } from '../../access/tiers.ts'
import { nothing, operation, pageOf } from '../../http/operation.ts'
import { badParams } from '../../http/problems.ts'
import { hook, refusals, urlParam } from './actions.ts'
import * as actions from './actions.ts'
import { GroupHook, flagParams, hookParams } from './entity.ts'
import { ofGroup } from './gates.ts'
import { customHeader, urlVariable } from './secret_actions.ts'
import { delivery, listing, resending, testing } from './testing.ts'

const common = { published: true, first: [signedIn, premiumOrAbsent] } as const

export const listGroupHooks = operation({
  method: 'GET',
  path: '/groups/:id/hooks',
  summary: 'List the webhooks of a group',
  ...common,
  gates: [group, premiumPlanOrAbsent.group, groupOwner, ofGroup],
  handle: actions.list,
  returns: pageOf(GroupHook),
})

export const getGroupHook = operation({
  method: 'GET',
  path: '/groups/:id/hooks/:hook_id',
  summary: 'Get a webhook of a group',
  ...common,
  gates: [group, premiumPlanOrAbsent.group, groupOwner, ofGroup, hook],
  handle: actions.show,
  returns: GroupHook,
})

export const createGroupHook = operation({
  method: 'POST',
  path: '/groups/:id/hooks',
  summary: 'Add a webhook to a group',
  ...common,
  gates: [group, premiumPlanOrAbsent.group, groupOwner, ofGroup],
  moves: 'rows',
  params: t.Object({ url: urlParam, ...hookParams, ...flagParams('group') }),
  handle: actions.create,
  returns: GroupHook,
  refuses: refusals,
})

export const updateGroupHook = operation({
  method: 'PUT',
  path: '/groups/:id/hooks/:hook_id',
  summary: 'Change a webhook of a group',
  ...common,
  gates: [group, premiumPlanOrAbsent.group, groupOwner, ofGroup, hook],
  moves: 'rows',
  params: t.Object({ url: t.Optional(urlParam), ...hookParams, ...flagParams('group') }),
  handle: actions.change,
  returns: GroupHook,
  refuses: [...refusals, badParams(['No parameters provided'])],
})

export const deleteGroupHook = operation({
  method: 'DELETE',
  path: '/groups/:id/hooks/:hook_id',
  summary: 'Delete a webhook of a group with its deliveries',
  ...common,
  gates: [group, premiumPlanOrAbsent.group, groupOwner, ofGroup, hook],
  moves: 'rows',
  handle: actions.remove,
  returns: nothing,
})

export const testGroupHook = operation({
  method: 'POST',
  path: '/groups/:id/hooks/:hook_id/test/:trigger',
  summary: 'Send a webhook of a group the newest record of a kind',
  ...common,
  gates: [group, premiumPlanOrAbsent.group, groupOwner, ofGroup, hook],
  ...testing,
})

export const listGroupHookEvents = operation({
  method: 'GET',
  path: '/groups/:id/hooks/:hook_id/events',
  summary: 'List recent deliveries of a webhook of a group, the newest first',
  ...common,
  gates: [group, premiumPlanOrAbsent.group, groupOwner, ofGroup, hook],
  ...listing,
})

export const resendGroupHookEvent = operation({
  method: 'POST',
  path: '/groups/:id/hooks/:hook_id/events/:hook_event_id/resend',
  summary: 'Send a delivery of a webhook of a group again',
  ...common,
  gates: [group, premiumPlanOrAbsent.group, groupOwner, ofGroup, hook, delivery],
  ...resending,
})

export const setGroupHookUrlVariable = operation({
  method: 'PUT',
  path: '/groups/:id/hooks/:hook_id/url_variables/:key',
  summary: 'Set a variable in the address of a webhook of a group',
  ...common,
  gates: [group, premiumPlanOrAbsent.group, groupOwner, ofGroup, hook],
  status: 204,
  ...urlVariable.set,
})

export const deleteGroupHookUrlVariable = operation({
  method: 'DELETE',
  path: '/groups/:id/hooks/:hook_id/url_variables/:key',
  summary: 'Delete a variable in the address of a webhook of a group',
  ...common,
  gates: [group, premiumPlanOrAbsent.group, groupOwner, ofGroup, hook, urlVariable.known],
  ...urlVariable.remove,
})

export const setGroupHookCustomHeader = operation({
  method: 'PUT',
  path: '/groups/:id/hooks/:hook_id/custom_headers/:key',
  summary: 'Set a header of a webhook of a group',
  ...common,
  gates: [group, premiumPlanOrAbsent.group, groupOwner, ofGroup, hook],
  status: 204,
  ...customHeader.set,
})

export const deleteGroupHookCustomHeader = operation({
  method: 'DELETE',
  path: '/groups/:id/hooks/:hook_id/custom_headers/:key',
  summary: 'Delete a header of a webhook of a group',
  ...common,
  gates: [group, premiumPlanOrAbsent.group, groupOwner, ofGroup, hook, customHeader.known],
  ...customHeader.remove,
})
