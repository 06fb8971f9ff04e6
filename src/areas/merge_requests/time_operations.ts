import { Type as t, type Static } from 'typebox'
import { anyone, developer, project, signedIn } from '../../access/gates.ts'
import { mergeRequest } from '../../access/noteable_gates.ts'
import { parseDuration, showDuration } from '../../core/durations.ts'
import { writeSystemNote } from '../../core/system_notes.ts'
import type { MergeRequest as Row } from '../../db/schema_planning.ts'
import type { Actor, Context } from '../../http/gate.ts'
import { operation } from '../../http/operation.ts'
import { badParams, invalid } from '../../http/problems.ts'
import { TimeStats, presentTime } from '../../records/noteable.ts'
import { addSpentTime, setEstimate } from './time_store.ts'

const duration = t.String({
  maxLength: 100,
  description: 'Such as `3h30m`; a week has five days of eight hours',
})
const badDuration = (): ReturnType<typeof badParams> => badParams(['duration is invalid'])
const overdrawn = (): ReturnType<typeof invalid> =>
  invalid({ base: ['Time to subtract exceeds the total time spent'] })

type Here = Context & { readonly actor: Actor; readonly mergeRequest: Row }

const say = ({ db, actor, mergeRequest }: Here, body: string): Promise<void> =>
  writeSystemNote(db, { noteable_id: mergeRequest.id, author_id: actor.id, action: 'time_tracking', body })

async function estimate(ctx: Here, seconds: number): Promise<Static<typeof TimeStats>> {
  const after = await setEstimate(ctx.db, ctx.mergeRequest.id, seconds)
  const text = showDuration(seconds)
  await say(ctx, text === null ? 'removed time estimate' : `changed time estimate to ${text}`)
  return presentTime(after ?? ctx.mergeRequest)
}

const gates = [project, developer, mergeRequest] as const

export const setMergeRequestTimeEstimate = operation({
  method: 'POST',
  path: '/projects/:id/merge_requests/:merge_request_iid/time_estimate',
  summary: 'Set how long a merge request should take',
  published: true,
  first: [signedIn],
  params: t.Object({ duration }),
  gates,
  handle: async (ctx) => {
    const seconds = parseDuration(ctx.params.duration)
    if (seconds === undefined || seconds < 0) throw badDuration()
    return estimate(ctx, seconds)
  },
  returns: TimeStats,
  status: 200,
  refuses: [badDuration],
})

export const removeMergeRequestTimeEstimate = operation({
  method: 'POST',
  path: '/projects/:id/merge_requests/:merge_request_iid/reset_time_estimate',
  summary: 'Take the estimate of a merge request away',
  published: true,
  first: [signedIn],
  gates,
  handle: (ctx) => estimate(ctx, 0),
  returns: TimeStats,
  status: 200,
})

export const addMergeRequestSpentTime = operation({
  method: 'POST',
  path: '/projects/:id/merge_requests/:merge_request_iid/add_spent_time',
  summary: 'Add time that was spent on a merge request',
  published: true,
  first: [signedIn],
  params: t.Object({ duration, summary: t.Optional(t.String({ maxLength: 255 })) }),
  gates,
  handle: async (ctx) => {
    const seconds = parseDuration(ctx.params.duration)
    if (seconds === undefined || seconds === 0) throw badDuration()
    const after = await addSpentTime(ctx.db, ctx.mergeRequest.id, seconds)
    if (after === undefined) throw overdrawn()
    const text = showDuration(Math.abs(seconds)) ?? ''
    await say(ctx, seconds > 0 ? `added ${text} of time spent` : `subtracted ${text} of time spent`)
    return presentTime(after)
  },
  returns: TimeStats,
  refuses: [badDuration, overdrawn],
})

export const removeMergeRequestSpentTime = operation({
  method: 'POST',
  path: '/projects/:id/merge_requests/:merge_request_iid/reset_spent_time',
  summary: 'Forget the time that was spent on a merge request',
  published: true,
  first: [signedIn],
  gates,
  handle: async (ctx) => {
    const after = await addSpentTime(ctx.db, ctx.mergeRequest.id, null)
    await say(ctx, 'removed time spent')
    return presentTime(after ?? ctx.mergeRequest)
  },
  returns: TimeStats,
  status: 200,
})

export const getMergeRequestTimeStatistics = operation({
  method: 'GET',
  path: '/projects/:id/merge_requests/:merge_request_iid/time_stats',
  summary: 'Get how long a merge request took and should take',
  published: true,
  gates: [project, anyone, mergeRequest],
  handle: async ({ mergeRequest }) => presentTime(mergeRequest),
  returns: TimeStats,
})
