import type { Calls } from './calls.ts'

const fresh = { key: 'FRESH', value: 'a' }

/** Variables of projects, groups and the instance. */
export const variables: Calls = {
  inPrivate: `
                            none   0   5  10  15  20  30  40  50 adm nobody
  listProjectVariables       404 404 404 403 403 403 403 200 200 200 401
  getProjectVariable         404 404 404 403 403 403 403 200 200 200 401
  createProjectVariable      404 404 404 403 403 403 403 201 201 201 401
  updateProjectVariable      404 404 404 403 403 403 403 200 200 200 401
  deleteProjectVariable      404 404 404 403 403 403 403 204 204 204 401
  listGroupVariables         404 404 403 403 403 403 403 403 200 200 401
  getGroupVariable           404 404 403 403 403 403 403 403 200 200 401
  createGroupVariable        404 404 403 403 403 403 403 403 201 201 401
  updateGroupVariable        404 404 403 403 403 403 403 403 200 200 401
  deleteGroupVariable        404 404 403 403 403 403 403 403 204 204 401
  listInstanceVariables      403 403 403 403 403 403 403 403 403 200 401
  getInstanceVariable        403 403 403 403 403 403 403 403 403 200 401
  createInstanceVariable     403 403 403 403 403 403 403 403 403 201 401
  updateInstanceVariable     403 403 403 403 403 403 403 403 403 200 401
  deleteInstanceVariable     403 403 403 403 403 403 403 403 403 204 401
`,
  inPublic: `
                            none   0   5  10  15  20  30  40  50 adm nobody
  listProjectVariables       403 403 403 403 403 403 403 200 200 200 401
  getProjectVariable         403 403 403 403 403 403 403 200 200 200 401
  createProjectVariable      403 403 403 403 403 403 403 201 201 201 401
  updateProjectVariable      403 403 403 403 403 403 403 200 200 200 401
  deleteProjectVariable      403 403 403 403 403 403 403 204 204 204 401
  listGroupVariables         403 403 403 403 403 403 403 403 200 200 401
  getGroupVariable           403 403 403 403 403 403 403 403 200 200 401
  createGroupVariable        403 403 403 403 403 403 403 403 201 201 401
  updateGroupVariable        403 403 403 403 403 403 403 403 200 200 401
  deleteGroupVariable        403 403 403 403 403 403 403 403 204 204 401
`,
  bodies: {
    createProjectVariable: fresh,
    createGroupVariable: fresh,
    createInstanceVariable: fresh,
    updateProjectVariable: { value: 'b' },
    updateGroupVariable: { value: 'b' },
    updateInstanceVariable: { value: 'b' },
  },
  set: async (world, { group, project }) => {
    const sealed = world.opened.instance.vault.seal('a').toString('hex')
    const value = `decode('${sealed}', 'hex')`
    await world.make.sql(`
      delete from ci_variables
       where project_id = ${project.id} or group_id = ${group.id} or (project_id is null and group_id is null);
      insert into ci_variables (project_id, group_id, key, sealed_value)
      values (${project.id}, null, 'KEY', ${value}), (null, ${group.id}, 'KEY', ${value}), (null, null, 'KEY', ${value})`)
    return { key: 'KEY' }
  },
}
