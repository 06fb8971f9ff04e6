import { Type as t } from 'typebox'
import { group, groupPlanner, insideGroup, signedIn } from '../../access/gates/gates.ts'
import { premiumCharts, premiumPlanCharts } from '../../access/tiers.ts'
import { LONG_TEXT, nothing, operation, pageOf } from '../../http/operation.ts'
import { Issue } from '../../records/planning/issue.ts'
import { MergeRequest } from '../../records/merge_requests/merge_request.ts'
import { Milestone, presentMilestone } from '../../records/planning/milestone.ts'
import * as actions from './actions.ts'
import * as contents from './contents.ts'
import { inGroup, milestone } from './gates.ts'
import { changeParams, createParams, list, listParams } from './lists.ts'
import { FAULTY, notCreated, notUpdated } from './rules.ts'

export const listGroupMilestones = operation({
  method: 'GET',
  path: '/groups/:id/milestones',
  summary: 'List the milestones of a group',
  published: true,
  first: [signedIn],
  params: t.Object({
    ...listParams,
    include_descendants: t.Boolean({
      default: false,
      description: 'Those of groups inside too, as far as the caller sees them',
    }),
  }),
  gates: [group, insideGroup, inGroup],
  handle: list,
  returns: pageOf(Milestone),
})

export const getGroupMilestone = operation({
  method: 'GET',
  path: '/groups/:id/milestones/:milestone_id',
  summary: 'Get a milestone of a group',
  published: true,
  first: [signedIn],
  gates: [group, insideGroup, inGroup, milestone],
  handle: async (ctx) => presentMilestone(ctx.milestone, ctx),
  returns: Milestone,
})

export const createGroupMilestone = operation({
  method: 'POST',
  path: '/groups/:id/milestones',
  summary: 'Create a milestone in a group',
  published: true,
  takes: LONG_TEXT,
  first: [signedIn],
  params: t.Object(createParams),
  gates: [group, groupPlanner, inGroup],
  handle: actions.create,
  returns: Milestone,
  refuses: [notCreated(FAULTY)],
})

export const updateGroupMilestone = operation({
  method: 'PUT',
  path: '/groups/:id/milestones/:milestone_id',
  summary: 'Change, close or activate a milestone of a group',
  published: true,
  takes: LONG_TEXT,
  first: [signedIn],
  params: changeParams,
  gates: [group, groupPlanner, inGroup, milestone],
  handle: actions.change,
  returns: Milestone,
  refuses: [notUpdated(FAULTY)],
})

export const deleteGroupMilestone = operation({
  method: 'DELETE',
  path: '/groups/:id/milestones/:milestone_id',
  summary: 'Delete a milestone of a group',
  published: true,
  first: [signedIn],
  gates: [group, groupPlanner, inGroup, milestone],
  handle: actions.discard,
  returns: nothing,
})

export const listGroupMilestoneIssues = operation({
  method: 'GET',
  path: '/groups/:id/milestones/:milestone_id/issues',
  summary: 'List the issues at a milestone of a group',
  published: true,
  first: [signedIn],
  gates: [group, insideGroup, inGroup, milestone],
  handle: contents.listIssues,
  returns: pageOf(Issue),
})

export const listGroupMilestoneMergeRequests = operation({
  method: 'GET',
  path: '/groups/:id/milestones/:milestone_id/merge_requests',
  summary: 'List the merge requests at a milestone of a group',
  published: true,
  first: [signedIn],
  gates: [group, insideGroup, inGroup, milestone],
  handle: contents.listMergeRequests,
  returns: pageOf(MergeRequest),
})

export const listGroupBurndownEvents = operation({
  method: 'GET',
  path: '/groups/:id/milestones/:milestone_id/burndown_events',
  summary: 'List the burndown chart events of a milestone of a group',
  published: true,
  first: [premiumCharts, signedIn],
  gates: [group, premiumPlanCharts.group, insideGroup, inGroup, milestone],
  handle: contents.listBurndownEvents,
  returns: t.Array(contents.BurndownEvent),
})
