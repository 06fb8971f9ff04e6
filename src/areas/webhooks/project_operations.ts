import { Type as t } from 'typebox'
import { maintainer, project, signedIn } from '../../access/gates/gates.ts'
import { nothing, operation, pageOf } from '../../http/operation.ts'
import { badParams } from '../../http/problems.ts'
import { hook, refusals, urlParam } from './actions.ts'
import * as actions from './actions.ts'
import { ProjectHook, flagParams, hookParams } from './entity.ts'
import { ofProject } from './gates.ts'
import { customHeader, urlVariable } from './secret_actions.ts'
import { delivery, listing, resending, testing } from './testing.ts'

const common = { published: true, first: [signedIn] } as const

export const listProjectHooks = operation({
  method: 'GET',
  path: '/projects/:id/hooks',
  summary: 'List the webhooks of a project',
  ...common,
  gates: [project, maintainer, ofProject],
  handle: actions.list,
  returns: pageOf(ProjectHook),
})

export const getProjectHook = operation({
  method: 'GET',
  path: '/projects/:id/hooks/:hook_id',
  summary: 'Get a webhook of a project',
  ...common,
  gates: [project, maintainer, ofProject, hook],
  handle: actions.show,
  returns: ProjectHook,
})

export const createProjectHook = operation({
  method: 'POST',
  path: '/projects/:id/hooks',
  summary: 'Add a webhook to a project',
  ...common,
  gates: [project, maintainer, ofProject],
  moves: 'rows',
  params: t.Object({ url: urlParam, ...hookParams, ...flagParams('project') }),
  handle: actions.create,
  returns: ProjectHook,
  refuses: refusals,
})

export const updateProjectHook = operation({
  method: 'PUT',
  path: '/projects/:id/hooks/:hook_id',
  summary: 'Change a webhook of a project',
  ...common,
  gates: [project, maintainer, ofProject, hook],
  moves: 'rows',
  params: t.Object({ url: t.Optional(urlParam), ...hookParams, ...flagParams('project') }),
  handle: actions.change,
  returns: ProjectHook,
  refuses: [...refusals, badParams(['No parameters provided'])],
})

export const deleteProjectHook = operation({
  method: 'DELETE',
  path: '/projects/:id/hooks/:hook_id',
  summary: 'Delete a webhook of a project with its deliveries',
  ...common,
  gates: [project, maintainer, ofProject, hook],
  moves: 'rows',
  handle: actions.remove,
  returns: nothing,
})

export const testProjectHook = operation({
  method: 'POST',
  path: '/projects/:id/hooks/:hook_id/test/:trigger',
  summary: 'Send a webhook of a project the newest record of a kind',
  ...common,
  gates: [project, maintainer, ofProject, hook],
  ...testing,
})

export const listProjectHookEvents = operation({
  method: 'GET',
  path: '/projects/:id/hooks/:hook_id/events',
  summary: 'List recent deliveries of a webhook of a project, the newest first',
  ...common,
  gates: [project, maintainer, ofProject, hook],
  ...listing,
})

export const resendProjectHookEvent = operation({
  method: 'POST',
  path: '/projects/:id/hooks/:hook_id/events/:hook_event_id/resend',
  summary: 'Send a delivery of a webhook of a project again',
  ...common,
  gates: [project, maintainer, ofProject, hook, delivery],
  ...resending,
})

export const setProjectHookUrlVariable = operation({
  method: 'PUT',
  path: '/projects/:id/hooks/:hook_id/url_variables/:key',
  summary: 'Set a variable in the address of a webhook of a project',
  ...common,
  gates: [project, maintainer, ofProject, hook],
  status: 204,
  ...urlVariable.set,
})

export const deleteProjectHookUrlVariable = operation({
  method: 'DELETE',
  path: '/projects/:id/hooks/:hook_id/url_variables/:key',
  summary: 'Delete a variable in the address of a webhook of a project',
  ...common,
  gates: [project, maintainer, ofProject, hook, urlVariable.known],
  ...urlVariable.remove,
})

export const setProjectHookCustomHeader = operation({
  method: 'PUT',
  path: '/projects/:id/hooks/:hook_id/custom_headers/:key',
  summary: 'Set a header of a webhook of a project',
  ...common,
  gates: [project, maintainer, ofProject, hook],
  status: 204,
  ...customHeader.set,
})

export const deleteProjectHookCustomHeader = operation({
  method: 'DELETE',
  path: '/projects/:id/hooks/:hook_id/custom_headers/:key',
  summary: 'Delete a header of a webhook of a project',
  ...common,
  gates: [project, maintainer, ofProject, hook, customHeader.known],
  ...customHeader.remove,
})
