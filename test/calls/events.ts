import { rowOf } from '../support/rows.ts'
import type { Calls } from './calls.ts'

/** Events of issues, merge requests and epics, and their to-do items; the Owner and Guests have one each. */
export const events: Calls = {
  inPrivate: `
                                    none   0   5  10  15  20  30  40  50 adm nobody
  listIssueLabelEvents              404 404 404 200 200 200 200 200 200 200 401
  getIssueLabelEvent                404 404 404 200 200 200 200 200 200 200 401
  listIssueStateEvents              404 404 404 200 200 200 200 200 200 200 401
  getIssueStateEvent                404 404 404 200 200 200 200 200 200 200 401
  listIssueMilestoneEvents          404 404 404 200 200 200 200 200 200 200 401
  getIssueMilestoneEvent            404 404 404 200 200 200 200 200 200 200 401
  listIssueWeightEvents             404 404 404 200 200 200 200 200 200 200 401
  getIssueWeightEvent               404 404 404 200 200 200 200 200 200 200 401
  listIssueIterationEvents          404 404 404 200 200 200 200 200 200 200 401
  getIssueIterationEvent            404 404 404 200 200 200 200 200 200 200 401
  listMergeRequestLabelEvents       404 404 404 404 404 200 200 200 200 200 401
  getMergeRequestLabelEvent         404 404 404 404 404 200 200 200 200 200 401
  listMergeRequestStateEvents       404 404 404 404 404 200 200 200 200 200 401
  getMergeRequestStateEvent         404 404 404 404 404 200 200 200 200 200 401
  listMergeRequestMilestoneEvents   404 404 404 404 404 200 200 200 200 200 401
  getMergeRequestMilestoneEvent     404 404 404 404 404 200 200 200 200 200 401
  listEpicLabelEvents               404 404 404 200 200 200 200 200 200 200 401
  getEpicLabelEvent                 404 404 404 200 200 200 200 200 200 200 401
  listEpicStateEvents               404 404 404 200 200 200 200 200 200 200 401
  getEpicStateEvent                 404 404 404 200 200 200 200 200 200 200 401
  createIssueTodo                   404 404 404 201 201 201 201 201 201 201 401
  createMergeRequestTodo            404 404 404 404 404 201 201 201 201 201 401
  listTodos                         200 200 200 200 200 200 200 200 200 200 401
  markTodosDone                     204 204 204 204 204 204 204 204 204 204 401
  markTodoDone                      404 404 404 404 404 404 404 404 201 404 401
`,
  inPublic: `
                                    none   0   5  10  15  20  30  40  50 adm nobody
  listIssueLabelEvents              200 200 200 200 200 200 200 200 200 200 401
  getIssueLabelEvent                200 200 200 200 200 200 200 200 200 200 401
  listIssueStateEvents              200 200 200 200 200 200 200 200 200 200 401
  getIssueStateEvent                200 200 200 200 200 200 200 200 200 200 401
  listIssueMilestoneEvents          200 200 200 200 200 200 200 200 200 200 401
  getIssueMilestoneEvent            200 200 200 200 200 200 200 200 200 200 401
  listIssueWeightEvents             200 200 200 200 200 200 200 200 200 200 401
  getIssueWeightEvent               200 200 200 200 200 200 200 200 200 200 401
  listIssueIterationEvents          200 200 200 200 200 200 200 200 200 200 401
  getIssueIterationEvent            200 200 200 200 200 200 200 200 200 200 401
  listMergeRequestLabelEvents       200 200 200 200 200 200 200 200 200 200 401
  getMergeRequestLabelEvent         200 200 200 200 200 200 200 200 200 200 401
  listMergeRequestStateEvents       200 200 200 200 200 200 200 200 200 200 401
  getMergeRequestStateEvent         200 200 200 200 200 200 200 200 200 200 401
  listMergeRequestMilestoneEvents   200 200 200 200 200 200 200 200 200 200 401
  getMergeRequestMilestoneEvent     200 200 200 200 200 200 200 200 200 200 401
  listEpicLabelEvents               200 200 200 200 200 200 200 200 200 200 401
  getEpicLabelEvent                 200 200 200 200 200 200 200 200 200 200 401
  listEpicStateEvents               200 200 200 200 200 200 200 200 200 200 401
  getEpicStateEvent                 200 200 200 200 200 200 200 200 200 200 401
  createIssueTodo                   201 201 201 201 201 201 201 201 201 201 401
  createMergeRequestTodo            201 201 201 201 201 201 201 201 201 201 401
`,
  set: async (world, { group, project, callers }, operation) => {
    const kind = /Epic/.test(operation)
      ? 'epics'
      : /MergeRequest/.test(operation)
        ? 'merge_requests'
        : 'issues'
    await world.make.sql(`
      delete from issues where project_id = ${project.id};
      delete from merge_requests where project_id = ${project.id};
      delete from epics where group_id = ${group.id};
      insert into issues (iid, project_id, title) values (1, ${project.id}, 'an issue');
      insert into merge_requests (iid, project_id, title) values (1, ${project.id}, 'a merge request');
      insert into epics (iid, group_id, title) values (1, ${group.id}, 'an epic')`)
    const here = kind === 'epics' ? `group_id = ${group.id}` : `project_id = ${project.id}`
    const { id } = await rowOf<{ id: number }>(world, `select id from ${kind} where ${here}`)
    const ownId = `(select id from iterations where group_id = ${group.id})`
    await world.make.sql(`
      delete from iteration_cadences where group_id = ${group.id};
      insert into iteration_cadences (group_id, title) values (${group.id}, 'weeks');
      insert into iterations (iid, sequence, group_id, iterations_cadence_id, start_date, due_date)
        select 1, 1, group_id, id, today(), today() from iteration_cadences where group_id = ${group.id};
      insert into resource_label_events (noteable_id, action) values (${id}, 'add');
      insert into resource_state_events (noteable_id, state) values (${id}, 'closed');
      insert into resource_milestone_events (noteable_id, action, state) values (${id}, 'add', 'opened')`)
    if (kind === 'issues')
      await world.make.sql(`
        insert into resource_weight_events (issue_id, weight) values (${id}, 3);
        insert into resource_iteration_events (issue_id, iteration_id, action) select ${id}, ${ownId}, 'add'`)
    const reminds = operation.startsWith('mark')
    if (reminds)
      for (const one of callers.values())
        if (one)
          await world.make.sql(`insert into todos (user_id, project_id, noteable_id, action_name)
            values (${one.id}, ${project.id}, ${id}, 'marked')`)
    const event = /(Label|State|Milestone|Weight|Iteration)Event$/.exec(operation)?.[1]?.toLowerCase()
    const owner = callers.get('owner')?.id
    const { ref } = await rowOf<{ ref: number | null }>(
      world,
      event === undefined
        ? `select max(id) as ref from todos where user_id = ${owner}`
        : `select max(id) as ref from resource_${event}_events
            where ${event === 'weight' || event === 'iteration' ? 'issue_id' : 'noteable_id'} = ${id}`,
    )
    return {
      issue_iid: '1',
      merge_request_iid: '1',
      epic_id: String(id),
      event_id: String(ref),
      ...(operation === 'markTodoDone' && { id: String(ref) }),
    }
  },
}
