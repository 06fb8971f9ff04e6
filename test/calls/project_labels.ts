import type { Calls } from './calls.ts'

/** Labels of projects. */
export const projectLabels: Calls = {
  inPrivate: `
                               none   0   5  10  15  20  30  40  50 adm nobody
  listProjectLabels             404 404 404 200 200 200 200 200 200 200 401
  getProjectLabel               404 404 404 200 200 200 200 200 200 200 401
  createProjectLabel            404 404 404 403 403 201 201 201 201 201 401
  updateProjectLabel            404 404 404 403 403 200 200 200 200 200 401
  updateProjectLabelByName      404 404 404 403 403 200 200 200 200 200 401
  deleteProjectLabel            404 404 404 403 403 204 204 204 204 204 401
  deleteProjectLabelByName      404 404 404 403 403 204 204 204 204 204 401
  promoteProjectLabel           404 404 404 403 403 200 200 200 200 200 401
  subscribeToProjectLabel       404 404 404 201 201 201 201 201 201 201 401
  unsubscribeFromProjectLabel   404 404 404 201 201 201 201 201 201 201 401
`,
  inPublic: `
                               none   0   5  10  15  20  30  40  50 adm nobody
  listProjectLabels             200 200 200 200 200 200 200 200 200 200 401
  getProjectLabel               200 200 200 200 200 200 200 200 200 200 401
  createProjectLabel            403 403 403 403 403 201 201 201 201 201 401
  updateProjectLabel            403 403 403 403 403 200 200 200 200 200 401
  updateProjectLabelByName      403 403 403 403 403 200 200 200 200 200 401
  deleteProjectLabel            403 403 403 403 403 204 204 204 204 204 401
  deleteProjectLabelByName      403 403 403 403 403 204 204 204 204 204 401
  promoteProjectLabel           403 403 403 403 403 200 200 200 200 200 401
  subscribeToProjectLabel       201 201 201 201 201 201 201 201 201 201 401
  unsubscribeFromProjectLabel   201 201 201 201 201 201 201 201 201 201 401
`,
  bodies: {
    createProjectLabel: { name: 'fresh', color: 'red' },
    updateProjectLabel: { color: 'red' },
    updateProjectLabelByName: { name: 'bug', color: 'red' },
    deleteProjectLabelByName: { name: 'bug' },
  },
  set: async (world, { group, project }, operation) => {
    await world.make.sql(`
      delete from labels where project_id = ${project.id} or group_id = ${group.id};
      insert into labels (project_id, title, color) values (${project.id}, 'bug', '#000000');
      ${
        operation === 'unsubscribeFromProjectLabel'
          ? `insert into label_subscriptions (label_id, user_id)
             select l.id, u.id from labels l, users u where l.project_id = ${project.id};`
          : ''
      }`)
    return { label_id: 'bug' }
  },
}
