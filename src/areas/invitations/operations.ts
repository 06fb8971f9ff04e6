import {
  group,
  groupOwner,
  maintainer,
  projectEvenArchived as project,
  signedIn,
} from '../../access/gates/gates.ts'
import { groupSource, projectSource, takesMembers } from '../../access/gates/member_gates.ts'
import { operation } from '../../http/operation.ts'
import { changing, invitation, listing, removing, touchable } from './actions.ts'
import { inviting, wellAddressed } from './inviting.ts'

const first = [signedIn] as const

export const inviteToGroup = operation({
  method: 'POST',
  path: '/groups/:id/invitations',
  summary: 'Invite addresses and users to a group',
  first,
  gates: [wellAddressed, group, groupOwner, groupSource],
  ...inviting,
})

export const listGroupInvitations = operation({
  method: 'GET',
  path: '/groups/:id/invitations',
  summary: 'List the invitations to a group that were not accepted yet',
  first,
  gates: [group, groupOwner, groupSource],
  ...listing,
})

export const updateGroupInvitation = operation({
  method: 'PUT',
  path: '/groups/:id/invitations/:email',
  summary: 'Change an invitation to a group',
  first,
  gates: [group, groupOwner, groupSource, invitation, touchable],
  ...changing,
})

export const deleteGroupInvitation = operation({
  method: 'DELETE',
  path: '/groups/:id/invitations/:email',
  summary: 'Delete an invitation to a group',
  published: true,
  first,
  gates: [group, groupOwner, groupSource, invitation, touchable],
  ...removing,
})

export const inviteToProject = operation({
  method: 'POST',
  path: '/projects/:id/invitations',
  summary: 'Invite addresses and users to a project',
  first,
  gates: [wellAddressed, project, maintainer, takesMembers, projectSource],
  ...inviting,
})

export const listProjectInvitations = operation({
  method: 'GET',
  path: '/projects/:id/invitations',
  summary: 'List the invitations to a project that were not accepted yet',
  first,
  gates: [project, maintainer, projectSource],
  ...listing,
})

export const updateProjectInvitation = operation({
  method: 'PUT',
  path: '/projects/:id/invitations/:email',
  summary: 'Change an invitation to a project',
  first,
  gates: [project, maintainer, projectSource, invitation, touchable],
  ...changing,
})

export const deleteProjectInvitation = operation({
  method: 'DELETE',
  path: '/projects/:id/invitations/:email',
  summary: 'Delete an invitation to a project',
  published: true,
  first,
  gates: [project, maintainer, projectSource, invitation, touchable],
  ...removing,
})
