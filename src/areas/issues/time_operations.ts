import { Type as t } from 'typebox'
import { anyone, project, signedIn } from '../../access/gates.ts'
import { issue } from '../../access/noteable_gates.ts'
import { parseDuration, showDuration } from '../../core/durations.ts'
import { writeSystemNote } from '../../core/system_notes.ts'
import type { Issue } from '../../db/schema_planning.ts'
import type { Actor, Context } from '../../http/gate.ts'
import { operation } from '../../http/operation.ts'
import { badParams, invalid } from '../../http/problems.ts'
import { TimeStats, presentTime } from '../../records/noteable.ts'
import { planner } from './gates.ts'
import * as issues from './store.ts'

const duration = t.String({
  maxLength: 100,
  description: 'Such as `3h30m`; a week has five days of eight hours',
})

const badDuration = (): ReturnType<typeof badParams> => badParams(['duration is invalid'])
const overdrawn = (): ReturnType<typeof invalid> =>
  invalid({ base: ['Time to subtract exceeds the total time spent'] })

type OnIssue = Context & { readonly actor: Actor; readonly issue: Issue }

const say = ({ db, actor, issue }: OnIssue, body: string): Promise<void> =>
  writeSystemNote(db, { noteable_id: issue.id, author_id: actor.id, action: 'time_tracking', body })

async function estimate(ctx: OnIssue, seconds: number): Promise<ReturnType<typeof presentTime>> {
  const after = await issues.setEstimate(ctx.db, ctx.issue.id, seconds)
  const text = showDuration(seconds)
  await say(ctx, text === null ? 'removed time estimate' : `changed time estimate to ${text}`)
  return presentTime(after ?? ctx.issue)
}

export const setIssueTimeEstimate = operation({
  method: 'POST',
  path: '/projects/:id/issues/:issue_iid/time_estimate',
  summary: 'Set how long an issue should take',
  published: true,
  first: [signedIn],
  params: t.Object({ duration }),
  gates: [project, issue, planner],
  handle: async (ctx) => {
    const seconds = parseDuration(ctx.params.duration)
    if (seconds === undefined || seconds < 0) throw badDuration()
    return estimate(ctx, seconds)
  },
  returns: TimeStats,
  status: 200,
  refuses: [badDuration],
})

export const removeIssueTimeEstimate = operation({
  method: 'POST',
  path: '/projects/:id/issues/:issue_iid/reset_time_estimate',
  summary: 'Take the estimate of an issue away',
  published: true,
  first: [signedIn],
  gates: [project, issue, planner],
  handle: async (ctx) => estimate(ctx, 0),
  returns: TimeStats,
  status: 200,
})

export const addIssueSpentTime = operation({
  method: 'POST',
  path: '/projects/:id/issues/:issue_iid/add_spent_time',
  summary: 'Add time that was spent on an issue',
  published: true,
  first: [signedIn],
  params: t.Object({ duration, summary: t.Optional(t.String({ maxLength: 255 })) }),
  gates: [project, issue, planner],
  handle: async (ctx) => {
    const seconds = parseDuration(ctx.params.duration)
    if (seconds === undefined || seconds === 0) throw badDuration()
    const after = await issues.addSpent(ctx.db, ctx.issue.id, seconds)
    if (after === undefined) throw overdrawn()
    const text = showDuration(Math.abs(seconds)) ?? ''
    await say(ctx, seconds > 0 ? `added ${text} of time spent` : `subtracted ${text} of time spent`)
    return presentTime(after)
  },
  returns: TimeStats,
  refuses: [badDuration, overdrawn],
})

export const removeIssueSpentTime = operation({
  method: 'POST',
  path: '/projects/:id/issues/:issue_iid/reset_spent_time',
  summary: 'Forget the time that was spent on an issue',
  published: true,
  first: [signedIn],
  gates: [project, issue, planner],
  handle: async (ctx) => {
    const after = await issues.resetSpent(ctx.db, ctx.issue.id)
    await say(ctx, 'removed time spent')
    return presentTime(after ?? ctx.issue)
  },
  returns: TimeStats,
  status: 200,
})

export const getIssueTimeStatistics = operation({
  method: 'GET',
  path: '/projects/:id/issues/:issue_iid/time_stats',
  summary: 'Get how long an issue took and should take',
  published: true,
  gates: [project, issue, anyone],
  handle: async ({ issue }) => presentTime(issue),
  returns: TimeStats,
})
