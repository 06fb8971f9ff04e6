import {
  administrator,
  group,
  groupMaintainer,
  groupOwner,
  maintainer,
  project,
  signedIn,
} from '../../access/gates/gates.ts'
import { groupSource, projectSource } from '../../access/gates/member_gates.ts'
import { operation } from '../../http/operation.ts'
import {
  DeployTokens,
  creating,
  deployToken,
  filters,
  listTokens,
  listing,
  removing,
  showing,
} from './actions.ts'

const published = { published: true } as const
const ofProject = [project, maintainer, projectSource] as const
const ofGroup = [group, groupMaintainer, groupSource] as const
const owningGroup = [group, groupOwner, groupSource] as const

export const listDeployTokens = operation({
  method: 'GET',
  path: '/deploy_tokens',
  summary: 'List the deploy tokens of the instance',
  ...published,
  first: [signedIn, administrator],
  params: filters,
  gates: [],
  handle: (ctx) => listTokens(ctx, undefined),
  returns: DeployTokens,
})

export const listProjectDeployTokens = operation({
  method: 'GET',
  path: '/projects/:id/deploy_tokens',
  summary: 'List the deploy tokens of a project',
  ...published,
  gates: [...ofProject],
  ...listing,
})

export const getProjectDeployToken = operation({
  method: 'GET',
  path: '/projects/:id/deploy_tokens/:token_id',
  summary: 'Get a deploy token of a project, without its text',
  ...published,
  gates: [...ofProject, deployToken],
  ...showing,
})

export const createProjectDeployToken = operation({
  method: 'POST',
  path: '/projects/:id/deploy_tokens',
  summary: 'Create a deploy token of a project; shown once',
  ...published,
  gates: [...ofProject],
  ...creating,
})

export const deleteProjectDeployToken = operation({
  method: 'DELETE',
  path: '/projects/:id/deploy_tokens/:token_id',
  summary: 'Delete a deploy token of a project',
  ...published,
  gates: [...ofProject, deployToken],
  ...removing,
})

export const listGroupDeployTokens = operation({
  method: 'GET',
  path: '/groups/:id/deploy_tokens',
  summary: 'List the deploy tokens of a group',
  ...published,
  gates: [...ofGroup],
  ...listing,
})

export const getGroupDeployToken = operation({
  method: 'GET',
  path: '/groups/:id/deploy_tokens/:token_id',
  summary: 'Get a deploy token of a group, without its text',
  ...published,
  gates: [...ofGroup, deployToken],
  ...showing,
})

export const createGroupDeployToken = operation({
  method: 'POST',
  path: '/groups/:id/deploy_tokens',
  summary: 'Create a deploy token of a group, for the projects below it; shown once',
  ...published,
  gates: [...owningGroup],
  ...creating,
})

export const deleteGroupDeployToken = operation({
  method: 'DELETE',
  path: '/groups/:id/deploy_tokens/:token_id',
  summary: 'Delete a deploy token of a group',
  ...published,
  gates: [...owningGroup, deployToken],
  ...removing,
})
