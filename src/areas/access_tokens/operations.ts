import { group, projectEvenArchived as project, signedIn } from '../../access/gates/gates.ts'
import { groupSource, projectSource } from '../../access/gates/member_gates.ts'
import { operation } from '../../http/operation.ts'
import {
  creating,
  listing,
  makesTokens,
  presentedToken,
  revoking,
  rotating,
  rotatingPresented,
  seesTokens,
  showing,
  showingPresented,
  token,
} from './actions.ts'

const published = { published: true, first: [signedIn] } as const
const ofGroup = [group, groupSource, seesTokens('group')] as const
const ofProject = [project, projectSource, seesTokens('project')] as const
const groupToken = token('group')
const projectToken = token('project')

export const listProjectAccessTokens = operation({
  method: 'GET',
  path: '/projects/:id/access_tokens',
  summary: 'List the tokens of a project',
  ...published,
  gates: [...ofProject],
  ...listing,
})

export const getProjectAccessToken = operation({
  method: 'GET',
  path: '/projects/:id/access_tokens/:token_id',
  summary: 'Get a token of a project, without its text',
  ...published,
  gates: [...ofProject, projectToken],
  ...showing,
})

export const createProjectAccessToken = operation({
  method: 'POST',
  path: '/projects/:id/access_tokens',
  summary: 'Create a token of a project with a bot user as member; shown once',
  ...published,
  gates: [project, projectSource, makesTokens('project')],
  ...creating('project'),
})

export const rotateProjectAccessToken = operation({
  method: 'POST',
  path: '/projects/:id/access_tokens/:token_id/rotate',
  summary: 'Rotate a token of a project; the new one expires in a week by default',
  ...published,
  gates: [...ofProject, projectToken],
  ...rotating,
})

export const revokeProjectAccessToken = operation({
  method: 'DELETE',
  path: '/projects/:id/access_tokens/:token_id',
  summary: 'Revoke a token of a project and remove its bot user',
  ...published,
  gates: [...ofProject, projectToken],
  ...revoking,
})

export const listGroupAccessTokens = operation({
  method: 'GET',
  path: '/groups/:id/access_tokens',
  summary: 'List the tokens of a group',
  ...published,
  gates: [...ofGroup],
  ...listing,
})

export const getGroupAccessToken = operation({
  method: 'GET',
  path: '/groups/:id/access_tokens/:token_id',
  summary: 'Get a token of a group, without its text',
  ...published,
  gates: [...ofGroup, groupToken],
  ...showing,
})

export const createGroupAccessToken = operation({
  method: 'POST',
  path: '/groups/:id/access_tokens',
  summary: 'Create a token of a group with a bot user as member; shown once',
  ...published,
  gates: [group, groupSource, makesTokens('group')],
  ...creating('group'),
})

export const rotateGroupAccessToken = operation({
  method: 'POST',
  path: '/groups/:id/access_tokens/:token_id/rotate',
  summary: 'Rotate a token of a group; the new one expires in a week by default',
  ...published,
  gates: [...ofGroup, groupToken],
  ...rotating,
})

export const revokeGroupAccessToken = operation({
  method: 'DELETE',
  path: '/groups/:id/access_tokens/:token_id',
  summary: 'Revoke a token of a group and remove its bot user',
  ...published,
  gates: [...ofGroup, groupToken],
  ...revoking,
})

export const getPresentedProjectToken = operation({
  method: 'GET',
  path: '/projects/:id/access_tokens/self',
  summary: 'Get the project token of the request',
  ...published,
  gates: [project, projectSource, presentedToken('project')],
  ...showingPresented,
})

export const rotatePresentedProjectToken = operation({
  method: 'POST',
  path: '/projects/:id/access_tokens/self/rotate',
  summary: 'Rotate the project token of the request',
  ...published,
  gates: [project, projectSource, presentedToken('project')],
  ...rotatingPresented,
})

export const getPresentedGroupToken = operation({
  method: 'GET',
  path: '/groups/:id/access_tokens/self',
  summary: 'Get the group token of the request',
  ...published,
  gates: [group, groupSource, presentedToken('group')],
  ...showingPresented,
})

export const rotatePresentedGroupToken = operation({
  method: 'POST',
  path: '/groups/:id/access_tokens/self/rotate',
  summary: 'Rotate the group token of the request',
  ...published,
  gates: [group, groupSource, presentedToken('group')],
  ...rotatingPresented,
})
