import type { Calls } from './calls.ts'

/** Resource groups: a group with a job that waits for it. */
export const resourceGroups: Calls = {
  inPrivate: `
                          none   0   5  10  15  20  30  40  50 adm nobody
  listResourceGroups       404 404 404 403 403 403 200 200 200 200 401
  getResourceGroup         404 404 404 403 403 403 200 200 200 200 401
  listUpcomingJobs         404 404 404 403 403 403 200 200 200 200 401
  updateResourceGroup      404 404 404 403 403 403 200 200 200 200 401
`,
  inPublic: `
                          none   0   5  10  15  20  30  40  50 adm nobody
  listResourceGroups       403 403 403 403 403 403 200 200 200 200 401
  getResourceGroup         403 403 403 403 403 403 200 200 200 200 401
  listUpcomingJobs         403 403 403 403 403 403 200 200 200 200 401
  updateResourceGroup      403 403 403 403 403 403 200 200 200 200 401
`,
  bodies: { updateResourceGroup: { process_mode: 'oldest_first' } },
  set: async (world, { project }) => {
    const key = `deploy/${project.id}`
    await world.make.sql(`
      delete from resource_groups where project_id = ${project.id};
      insert into resource_groups (project_id, key) values (${project.id}, '${key}')`)
    return { key }
  },
}
