import { rowOf } from '../support/rows.ts'
import type { Calls } from './calls.ts'

/** Issues. The one that is called has no author and no assignee, so that the role alone decides. */
export const issues: Calls = {
  inPrivate: `
                             none   0   5  10  15  20  30  40  50 adm nobody
  listProjectIssues           404 404 404 200 200 200 200 200 200 200 404
  listGroupIssues             404 404 200 200 200 200 200 200 200 200 404
  listIssues                  200 200 200 200 200 200 200 200 200 200 401
  getIssueById                403 403 403 403 403 403 403 403 403 200 401
  getProjectIssueStatistics   404 404 404 200 200 200 200 200 200 200 404
  getGroupIssueStatistics     404 404 200 200 200 200 200 200 200 200 404
  getIssueStatistics          200 200 200 200 200 200 200 200 200 200 401
  getIssue                    404 404 404 200 200 200 200 200 200 200 404
  createIssue                 404 404 404 201 201 201 201 201 201 201 401
  updateIssue                 404 404 404 403 200 200 200 200 200 200 401
  deleteIssue                 404 404 404 403 204 403 403 403 204 204 401
  moveIssue                   404 404 404 400 201 201 201 201 201 201 401
  subscribeToIssue            404 404 404 201 201 201 201 201 201 201 401
  unsubscribeFromIssue        404 404 404 201 201 201 201 201 201 201 401
  listIssueParticipants       404 404 404 200 200 200 200 200 200 200 404
  setIssueTimeEstimate        404 404 404 403 200 200 200 200 200 200 401
  removeIssueTimeEstimate     404 404 404 403 200 200 200 200 200 200 401
  addIssueSpentTime           404 404 404 403 201 201 201 201 201 201 401
  removeIssueSpentTime        404 404 404 403 200 200 200 200 200 200 401
  getIssueTimeStatistics      404 404 404 200 200 200 200 200 200 200 404
`,
  inPublic: `
                             none   0   5  10  15  20  30  40  50 adm nobody
  listProjectIssues           200 200 200 200 200 200 200 200 200 200 200
  listGroupIssues             200 200 200 200 200 200 200 200 200 200 200
  getProjectIssueStatistics   200 200 200 200 200 200 200 200 200 200 200
  getGroupIssueStatistics     200 200 200 200 200 200 200 200 200 200 200
  getIssue                    200 200 200 200 200 200 200 200 200 200 200
  createIssue                 201 201 201 201 201 201 201 201 201 201 401
  updateIssue                 403 403 403 403 200 200 200 200 200 200 401
  deleteIssue                 403 403 403 403 204 403 403 403 204 204 401
  moveIssue                   400 400 400 400 201 201 201 201 201 201 401
  subscribeToIssue            201 201 201 201 201 201 201 201 201 201 401
  unsubscribeFromIssue        201 201 201 201 201 201 201 201 201 201 401
  listIssueParticipants       200 200 200 200 200 200 200 200 200 200 200
  setIssueTimeEstimate        403 403 403 403 200 200 200 200 200 200 401
  removeIssueTimeEstimate     403 403 403 403 200 200 200 200 200 200 401
  addIssueSpentTime           403 403 403 403 201 201 201 201 201 201 401
  removeIssueSpentTime        403 403 403 403 200 200 200 200 200 200 401
  getIssueTimeStatistics      200 200 200 200 200 200 200 200 200 200 200
`,
  bodies: {
    createIssue: { title: 'fresh' },
    updateIssue: { title: 'changed' },
    moveIssue: ({ project }) => ({ to_project_id: project.id + 1_000_000 }),
    setIssueTimeEstimate: { duration: '3h' },
    addIssueSpentTime: { duration: '1h' },
  },
  set: async (world, { group, project, callers }, operation) => {
    const target = project.id + 1_000_000
    const subscribed = operation === 'unsubscribeFromIssue'
    await world.make.sql(`
      delete from projects where id = ${target};
      insert into projects (id, namespace_id, name, path, full_path, visibility) overriding system value
        select ${target}, namespace_id, 'target', 'target', '${group.full_path}/target-${target}', visibility
          from projects where id = ${project.id};
      delete from issues where project_id = ${project.id};
      insert into issues (iid, project_id, title, time_estimate, total_time_spent)
        values (1, ${project.id}, 'an issue', 3600, 60);
      insert into project_counters (project_id, counts, last) values (${project.id}, 'issues', 1)
        on conflict (project_id, counts) do update set last = 1`)
    const { id } = await rowOf<{ id: number }>(world, 'select id from issues where project_id = $1', [
      project.id,
    ])
    if (subscribed)
      for (const one of callers.values())
        if (one) await world.make.sql(`insert into noteable_subscriptions values (${id}, ${one.id}, true)`)
    return { issue_iid: '1', ...(operation === 'getIssueById' && { id: String(id) }) }
  },
}
