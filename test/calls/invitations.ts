import type { Calls } from './calls.ts'

/** Invitations to groups and projects. */
export const invitations: Calls = {
  inPrivate: `
                            none   0   5  10  15  20  30  40  50 adm nobody
  inviteToGroup              404 404 403 403 403 403 403 403 201 201 401
  listGroupInvitations       404 404 403 403 403 403 403 403 200 200 401
  updateGroupInvitation      404 404 403 403 403 403 403 403 200 200 401
  deleteGroupInvitation      404 404 403 403 403 403 403 403 204 204 401
  inviteToProject            404 404 404 403 403 403 403 201 201 201 401
  listProjectInvitations     404 404 404 403 403 403 403 200 200 200 401
  updateProjectInvitation    404 404 404 403 403 403 403 200 200 200 401
  deleteProjectInvitation    404 404 404 403 403 403 403 204 204 204 401
`,
  inPublic: `
                            none   0   5  10  15  20  30  40  50 adm nobody
  inviteToGroup              403 403 403 403 403 403 403 403 201 201 401
  listGroupInvitations       403 403 403 403 403 403 403 403 200 200 401
  updateGroupInvitation      403 403 403 403 403 403 403 403 200 200 401
  deleteGroupInvitation      403 403 403 403 403 403 403 403 204 204 401
  inviteToProject            403 403 403 403 403 403 403 201 201 201 401
  listProjectInvitations     403 403 403 403 403 403 403 200 200 200 401
  updateProjectInvitation    403 403 403 403 403 403 403 200 200 200 401
  deleteProjectInvitation    403 403 403 403 403 403 403 204 204 204 401
`,
  bodies: {
    inviteToGroup: { email: 'fresh@x.example', access_level: 20 },
    inviteToProject: { email: 'fresh@x.example', access_level: 20 },
    updateGroupInvitation: { access_level: 30 },
    updateProjectInvitation: { access_level: 30 },
  },
  set: async (world, { group, project }, operation) => {
    const inGroup = operation.includes('Group')
    const email = `known-${inGroup ? 'g' : 'p'}-${group.id}@x.example`
    await world.make.sql(`
      delete from invitations where namespace_id = ${group.id} or project_id = ${project.id};
      insert into invitations (namespace_id, project_id, email, access_level, token_digest, sealed_token)
      values (${inGroup ? `${group.id}, null` : `null, ${project.id}`}, '${email}', 20, '${email}', 'x')`)
    return { email, id: String(inGroup ? group.id : project.id) }
  },
}
