import { Type as t } from 'typebox'
import { anyone, project, signedIn } from '../../access/gates/gates.ts'
import { issue } from '../../access/gates/noteable_gates.ts'
import type { Issue } from '../../db/schema/planning.ts'
import type { Actor, Context } from '../../http/gate.ts'
import { operation } from '../../http/operation.ts'
import { TimeStats, presentTime } from '../../records/conversation/noteable.ts'
import { badDuration, duration, overdrawn, timing } from '../../records/planning/time_tracking.ts'
import { planner } from './gates.ts'

const times = timing(({ db, actor, issue }: Context & { readonly actor: Actor; readonly issue: Issue }) => ({
  deed: { db, actor, kind: 'issue', id: issue.id },
  row: issue,
}))

export const setIssueTimeEstimate = operation({
  method: 'POST',
  path: '/projects/:id/issues/:issue_iid/time_estimate',
  summary: 'Set the time estimate of an issue',
  published: true,
  first: [signedIn],
  params: t.Object({ duration }),
  gates: [project, issue, planner],
  handle: times.estimate,
  returns: TimeStats,
  status: 200,
  refuses: [badDuration],
})

export const removeIssueTimeEstimate = operation({
  method: 'POST',
  path: '/projects/:id/issues/:issue_iid/reset_time_estimate',
  summary: 'Reset the time estimate of an issue',
  published: true,
  first: [signedIn],
  gates: [project, issue, planner],
  handle: times.unestimate,
  returns: TimeStats,
  status: 200,
})

export const addIssueSpentTime = operation({
  method: 'POST',
  path: '/projects/:id/issues/:issue_iid/add_spent_time',
  summary: 'Add time spent on an issue',
  published: true,
  first: [signedIn],
  params: t.Object({ duration, summary: t.Optional(t.String({ maxLength: 255 })) }),
  gates: [project, issue, planner],
  handle: times.spend,
  returns: TimeStats,
  refuses: [badDuration, overdrawn],
})

export const removeIssueSpentTime = operation({
  method: 'POST',
  path: '/projects/:id/issues/:issue_iid/reset_spent_time',
  summary: 'Reset the time spent on an issue',
  published: true,
  first: [signedIn],
  gates: [project, issue, planner],
  handle: times.forget,
  returns: TimeStats,
  status: 200,
})

export const getIssueTimeStatistics = operation({
  method: 'GET',
  path: '/projects/:id/issues/:issue_iid/time_stats',
  summary: 'Get the time tracking of an issue',
  published: true,
  gates: [project, issue, anyone],
  handle: async ({ issue }) => presentTime(issue),
  returns: TimeStats,
})
