import { Type as t } from 'typebox'
import { planner, project, signedIn } from '../../access/gates/gates.ts'
import { premiumCharts, premiumPlanCharts } from '../../access/tiers.ts'
import { LONG_TEXT, nothing, operation, pageOf } from '../../http/operation.ts'
import { Issue } from '../../records/planning/issue.ts'
import { MergeRequest } from '../../records/merge_requests/merge_request.ts'
import { Milestone, presentMilestone } from '../../records/planning/milestone.ts'
import * as actions from './actions.ts'
import * as contents from './contents.ts'
import { groupToPromoteTo, inProject, milestone } from './gates.ts'
import { changeParams, createParams, list, listParams } from './lists.ts'
import { FAULTY, notCreated, notPromoted, notUpdated } from './rules.ts'

export {
  createGroupMilestone,
  deleteGroupMilestone,
  getGroupMilestone,
  listGroupBurndownEvents,
  listGroupMilestoneIssues,
  listGroupMilestoneMergeRequests,
  listGroupMilestones,
  updateGroupMilestone,
} from './group_operations.ts'

export const listMilestones = operation({
  method: 'GET',
  path: '/projects/:id/milestones',
  summary: 'List the milestones of a project',
  first: [signedIn],
  params: t.Object(listParams),
  gates: [project, inProject],
  handle: list,
  returns: pageOf(Milestone),
})

export const getMilestone = operation({
  method: 'GET',
  path: '/projects/:id/milestones/:milestone_id',
  summary: 'Get a milestone of a project',
  first: [signedIn],
  gates: [project, inProject, milestone],
  handle: async (ctx) => presentMilestone(ctx.milestone, ctx),
  returns: Milestone,
})

export const createMilestone = operation({
  method: 'POST',
  path: '/projects/:id/milestones',
  summary: 'Create a milestone in a project',
  takes: LONG_TEXT,
  first: [signedIn],
  params: t.Object(createParams),
  gates: [project, inProject, planner],
  handle: actions.create,
  returns: Milestone,
  refuses: [notCreated(FAULTY)],
})

export const updateMilestone = operation({
  method: 'PUT',
  path: '/projects/:id/milestones/:milestone_id',
  summary: 'Change, close or activate a milestone of a project',
  takes: LONG_TEXT,
  first: [signedIn],
  params: changeParams,
  gates: [project, inProject, planner, milestone],
  handle: actions.change,
  returns: Milestone,
  refuses: [notUpdated(FAULTY)],
})

export const deleteMilestone = operation({
  method: 'DELETE',
  path: '/projects/:id/milestones/:milestone_id',
  summary: 'Delete a milestone of a project',
  first: [signedIn],
  gates: [project, inProject, planner, milestone],
  handle: actions.discard,
  returns: nothing,
})

export const promoteMilestone = operation({
  method: 'POST',
  path: '/projects/:id/milestones/:milestone_id/promote',
  summary: 'Promote a project milestone to a group milestone',
  first: [signedIn],
  gates: [project, inProject, planner, groupToPromoteTo, milestone],
  handle: actions.promote,
  returns: Milestone,
  status: 200,
  refuses: [notPromoted('Title already being used for another group or project milestone.')],
})

export const listMilestoneIssues = operation({
  method: 'GET',
  path: '/projects/:id/milestones/:milestone_id/issues',
  summary: 'List the issues at a milestone of a project',
  first: [signedIn],
  gates: [project, inProject, milestone],
  handle: contents.listIssues,
  returns: pageOf(Issue),
})

export const listMilestoneMergeRequests = operation({
  method: 'GET',
  path: '/projects/:id/milestones/:milestone_id/merge_requests',
  summary: 'List the merge requests at a milestone of a project',
  first: [signedIn],
  gates: [project, inProject, milestone],
  handle: contents.listMergeRequests,
  returns: pageOf(MergeRequest),
})

export const listBurndownEvents = operation({
  method: 'GET',
  path: '/projects/:id/milestones/:milestone_id/burndown_events',
  summary: 'List the burndown chart events of a milestone of a project',
  published: true,
  first: [premiumCharts, signedIn],
  gates: [project, premiumPlanCharts.project, inProject, milestone],
  handle: contents.listBurndownEvents,
  returns: t.Array(contents.BurndownEvent),
})
