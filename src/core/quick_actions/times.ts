import { parseDuration, showDuration } from '../values/durations.ts'
import type { Run, Told } from './run.ts'
import { dayIn } from '../conversation/quick_action_text.ts'

// Commands that say how long it should take and took.

export function estimate(run: Run, argument: string): Told {
  const seconds = parseDuration(argument)
  if (seconds === undefined || seconds <= 0) return undefined
  run.times.estimate = seconds
  run.changes['time_estimate'] = seconds
  return `Set time estimate to ${showDuration(seconds)}.`
}
export function removeEstimate(run: Run): Told {
  if (run.times.estimate === 0) return undefined
  run.times.estimate = 0
  run.changes['time_estimate'] = 0
  return 'Removed time estimate.'
}
const MOST_TIME = 2 ** 31 - 1
/** Time is taken on a day that there is, and that has begun. */
const hasBegun = (day: string, now: Date): boolean =>
  dayIn(day, now) !== undefined && day <= now.toISOString().slice(0, 10)
export function spend(run: Run, argument: string): Told {
  const [, day] = /\s(\d{4}-\d\d-\d\d)$/.exec(argument.slice(-11)) ?? []
  if (day !== undefined && !hasBegun(day, run.now)) return undefined
  const seconds = parseDuration(day === undefined ? argument : argument.slice(0, -11).trimEnd())
  const total = run.times.spent + (seconds ?? 0)
  if (seconds === undefined || seconds === 0 || total < 0 || total > MOST_TIME) return undefined
  run.times.spent = total
  run.changes['spend_time'] = {
    duration: seconds,
    user_id: run.actor.id,
    ...(day !== undefined && { spent_at: day }),
  }
  return `${seconds > 0 ? 'Added' : 'Subtracted'} ${showDuration(Math.abs(seconds))} spent time.`
}
export function forgetTime(run: Run): Told {
  if (run.times.spent === 0) return undefined
  run.times.spent = 0
  run.changes['spend_time'] = { duration: 'reset', user_id: run.actor.id }
  return 'Removed spent time.'
}
