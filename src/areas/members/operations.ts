import {
  group,
  groupOwner,
  insideGroup,
  maintainer,
  projectEvenArchived as project,
  signedIn,
} from '../../access/gates/gates.ts'
import { groupSource, projectSource, takesMembers } from '../../access/gates/member_gates.ts'
import { operation } from '../../http/operation.ts'
import { adding } from './adding.ts'
import {
  changing,
  listing,
  listingAll,
  listingUsers,
  member,
  memberOfAny,
  removing,
  showing,
} from './actions.ts'

const published = { published: true, first: [signedIn] } as const

export const listGroupMembers = operation({
  method: 'GET',
  path: '/groups/:id/members',
  summary: 'List the direct members of a group',
  ...published,
  gates: [group, insideGroup, groupSource],
  ...listing,
})

export const listAllGroupMembers = operation({
  method: 'GET',
  path: '/groups/:id/members/all',
  summary: 'List all members of a group: direct, inherited, invited with another group',
  ...published,
  gates: [group, insideGroup, groupSource],
  ...listingAll,
})

export const getGroupMember = operation({
  method: 'GET',
  path: '/groups/:id/members/:user_id',
  summary: 'Get a direct member of a group',
  ...published,
  gates: [group, insideGroup, groupSource, member],
  ...showing,
})

export const getAnyGroupMember = operation({
  method: 'GET',
  path: '/groups/:id/members/all/:user_id',
  summary: 'Get a member of a group, direct or inherited',
  ...published,
  gates: [group, insideGroup, groupSource, memberOfAny],
  ...showing,
})

export const addGroupMember = operation({
  method: 'POST',
  path: '/groups/:id/members',
  summary: 'Add members to a group',
  ...published,
  gates: [group, groupOwner, groupSource],
  ...adding,
})

export const updateGroupMember = operation({
  method: 'PUT',
  path: '/groups/:id/members/:user_id',
  summary: 'Change the role of a member of a group',
  ...published,
  gates: [group, groupOwner, groupSource, member],
  ...changing,
})

export const removeGroupMember = operation({
  method: 'DELETE',
  path: '/groups/:id/members/:user_id',
  summary: 'Remove a member from a group, or leave it',
  ...published,
  gates: [group, groupSource, member],
  ...removing,
})

export const listProjectMembers = operation({
  method: 'GET',
  path: '/projects/:id/members',
  summary: 'List the direct members of a project',
  ...published,
  gates: [project, projectSource],
  ...listing,
})

export const listAllProjectMembers = operation({
  method: 'GET',
  path: '/projects/:id/members/all',
  summary: 'List all members of a project: direct, inherited, invited with a group',
  ...published,
  gates: [project, projectSource],
  ...listingAll,
})

export const listUsersOfProject = operation({
  method: 'GET',
  path: '/projects/:id/users',
  summary: 'List the users of a project, direct and inherited members',
  ...published,
  gates: [project, projectSource],
  ...listingUsers,
})

export const getProjectMember = operation({
  method: 'GET',
  path: '/projects/:id/members/:user_id',
  summary: 'Get a direct member of a project',
  ...published,
  gates: [project, projectSource, member],
  ...showing,
})

export const getAnyProjectMember = operation({
  method: 'GET',
  path: '/projects/:id/members/all/:user_id',
  summary: 'Get a member of a project, direct or inherited',
  ...published,
  gates: [project, projectSource, memberOfAny],
  ...showing,
})

export const addProjectMember = operation({
  method: 'POST',
  path: '/projects/:id/members',
  summary: 'Add members to a project',
  ...published,
  gates: [project, maintainer, takesMembers, projectSource],
  ...adding,
})

export const updateProjectMember = operation({
  method: 'PUT',
  path: '/projects/:id/members/:user_id',
  summary: 'Change the role of a member of a project',
  ...published,
  gates: [project, maintainer, projectSource, member],
  ...changing,
})

export const removeProjectMember = operation({
  method: 'DELETE',
  path: '/projects/:id/members/:user_id',
  summary: 'Remove a member from a project, or leave it',
  ...published,
  gates: [project, projectSource, member],
  ...removing,
})
