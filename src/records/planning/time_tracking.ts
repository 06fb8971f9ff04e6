import { Type as t, type Static } from 'typebox'
import { parseDuration } from '../../core/values/durations.ts'
import { addSpent, resetSpent, setEstimate, type TimeDeed } from '../../core/planning/time_tracking.ts'
import { badParams, invalid, type Problem } from '../../http/problems.ts'
import { presentTime, type TimeStats } from '../conversation/noteable.ts'

// Issues and merge requests are timed alike: what such calls take, refuse and answer.

type Answer = Promise<Static<typeof TimeStats>>
type Row = Parameters<typeof presentTime>[0]

export const duration = t.String({
  maxLength: 100,
  description: 'Such as `3h30m`; a week has five days of eight hours',
})
export const badDuration = (): Problem => badParams(['duration is invalid'])
export const overdrawn = (): Problem => invalid({ base: ['Time to subtract exceeds the total time spent'] })

/** Effects of calls of one kind; `here` has the record and its former values. */
export const timing = <Ctx>(here: (ctx: Ctx) => { readonly deed: TimeDeed; readonly row: Row }) => ({
  estimate: async (ctx: Ctx & { readonly params: { readonly duration: string } }): Answer => {
    const seconds = parseDuration(ctx.params.duration)
    if (seconds === undefined || seconds < 0) throw badDuration()
    const { deed, row } = here(ctx)
    return presentTime((await setEstimate(deed, seconds)) ?? row)
  },
  unestimate: async (ctx: Ctx): Answer => {
    const { deed, row } = here(ctx)
    return presentTime((await setEstimate(deed, 0)) ?? row)
  },
  spend: async (ctx: Ctx & { readonly params: { readonly duration: string } }): Answer => {
    const seconds = parseDuration(ctx.params.duration)
    if (seconds === undefined || seconds === 0) throw badDuration()
    const after = await addSpent(here(ctx).deed, seconds)
    if (after === undefined) throw overdrawn()
    return presentTime(after)
  },
  forget: async (ctx: Ctx): Answer => {
    const { deed, row } = here(ctx)
    return presentTime((await resetSpent(deed)) ?? row)
  },
})
