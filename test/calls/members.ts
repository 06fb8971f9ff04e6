import type { Calls } from './calls.ts'
import { somebody } from './people.ts'

/** Members of groups and projects. */
export const members: Calls = {
  inPrivate: `
                         none   0   5  10  15  20  30  40  50 adm nobody
  listGroupMembers       404 404 403 200 200 200 200 200 200 200 401
  listAllGroupMembers    404 404 403 200 200 200 200 200 200 200 401
  getGroupMember         404 404 403 200 200 200 200 200 200 200 401
  getAnyGroupMember      404 404 403 200 200 200 200 200 200 200 401
  addGroupMember         404 404 403 403 403 403 403 403 201 201 401
  updateGroupMember      404 404 403 403 403 403 403 403 200 200 401
  removeGroupMember      404 404 403 403 403 403 403 403 204 204 401
  listProjectMembers     404 404 404 200 200 200 200 200 200 200 401
  listAllProjectMembers  404 404 404 200 200 200 200 200 200 200 401
  listUsersOfProject     404 404 404 200 200 200 200 200 200 200 401
  getProjectMember       404 404 404 200 200 200 200 200 200 200 401
  getAnyProjectMember    404 404 404 200 200 200 200 200 200 200 401
  addProjectMember       404 404 404 403 403 403 403 201 201 201 401
  updateProjectMember    404 404 404 403 403 403 403 200 200 200 401
  removeProjectMember    404 404 404 403 403 403 403 204 204 204 401
`,
  inPublic: `
                         none   0   5  10  15  20  30  40  50 adm nobody
  listGroupMembers       200 200 200 200 200 200 200 200 200 200 401
  listAllGroupMembers    200 200 200 200 200 200 200 200 200 200 401
  getGroupMember         200 200 200 200 200 200 200 200 200 200 401
  getAnyGroupMember      200 200 200 200 200 200 200 200 200 200 401
  addGroupMember         403 403 403 403 403 403 403 403 201 201 401
  updateGroupMember      403 403 403 403 403 403 403 403 200 200 401
  removeGroupMember      403 403 403 403 403 403 403 403 204 204 401
  listProjectMembers     200 200 200 200 200 200 200 200 200 200 401
  listAllProjectMembers  200 200 200 200 200 200 200 200 200 200 401
  listUsersOfProject     200 200 200 200 200 200 200 200 200 200 401
  getProjectMember       200 200 200 200 200 200 200 200 200 200 401
  getAnyProjectMember    200 200 200 200 200 200 200 200 200 200 401
  addProjectMember       403 403 403 403 403 403 403 201 201 201 401
  updateProjectMember    403 403 403 403 403 403 403 200 200 200 401
  removeProjectMember    403 403 403 403 403 403 403 204 204 204 401
`,
  bodies: {
    addGroupMember: ({ group }) => ({ username: `joins-${group.id}`, access_level: 30 }),
    addProjectMember: ({ group }) => ({ username: `joins-${group.id}`, access_level: 30 }),
    updateGroupMember: { access_level: 20 },
    updateProjectMember: { access_level: 20 },
  },
  set: async (world, scene, operation) => {
    const { group, project } = scene
    const { id } = await somebody(world, scene)
    const adds = operation.startsWith('add')
    const place = operation.includes('Group') ? `${group.id}, null` : `null, ${project.id}`
    await world.make.sql(`
      update users set username = '${adds ? 'joins' : 'somebody'}-${group.id}' where id = ${id};
      delete from members where user_id = ${id};
      ${adds ? '' : `insert into members (user_id, namespace_id, project_id, access_level) values (${id}, ${place}, 30)`}`)
    return {
      user_id: String(id),
      id: String(operation.includes('Group') ? group.id : project.id),
    }
  },
}
