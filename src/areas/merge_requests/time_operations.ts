import { Type as t } from 'typebox'
import { anyone, developer, project, signedIn } from '../../access/gates/gates.ts'
import { mergeRequest } from '../../access/gates/noteable_gates.ts'
import type { MergeRequest as Row } from '../../db/schema/planning.ts'
import type { Actor, Context } from '../../http/gate.ts'
import { operation } from '../../http/operation.ts'
import { TimeStats, presentTime } from '../../records/conversation/noteable.ts'
import { badDuration, duration, overdrawn, timing } from '../../records/planning/time_tracking.ts'

type Here = Context & { readonly actor: Actor; readonly mergeRequest: Row }
const times = timing(({ db, actor, mergeRequest }: Here) => ({
  deed: { db, actor, kind: 'merge_request', id: mergeRequest.id },
  row: mergeRequest,
}))
const gates = [project, developer, mergeRequest] as const

export const setMergeRequestTimeEstimate = operation({
  method: 'POST',
  path: '/projects/:id/merge_requests/:merge_request_iid/time_estimate',
  summary: 'Set the time estimate of a merge request',
  published: true,
  first: [signedIn],
  params: t.Object({ duration }),
  gates,
  handle: times.estimate,
  returns: TimeStats,
  status: 200,
  refuses: [badDuration],
})

export const removeMergeRequestTimeEstimate = operation({
  method: 'POST',
  path: '/projects/:id/merge_requests/:merge_request_iid/reset_time_estimate',
  summary: 'Reset the time estimate of a merge request',
  published: true,
  first: [signedIn],
  gates,
  handle: times.unestimate,
  returns: TimeStats,
  status: 200,
})

export const addMergeRequestSpentTime = operation({
  method: 'POST',
  path: '/projects/:id/merge_requests/:merge_request_iid/add_spent_time',
  summary: 'Add time spent on a merge request',
  published: true,
  first: [signedIn],
  params: t.Object({ duration, summary: t.Optional(t.String({ maxLength: 255 })) }),
  gates,
  handle: times.spend,
  returns: TimeStats,
  refuses: [badDuration, overdrawn],
})

export const removeMergeRequestSpentTime = operation({
  method: 'POST',
  path: '/projects/:id/merge_requests/:merge_request_iid/reset_spent_time',
  summary: 'Reset the time spent on a merge request',
  published: true,
  first: [signedIn],
  gates,
  handle: times.forget,
  returns: TimeStats,
  status: 200,
})

export const getMergeRequestTimeStatistics = operation({
  method: 'GET',
  path: '/projects/:id/merge_requests/:merge_request_iid/time_stats',
  summary: 'Get the time tracking of a merge request',
  published: true,
  gates: [project, anyone, mergeRequest],
  handle: async ({ mergeRequest }) => presentTime(mergeRequest),
  returns: TimeStats,
})
