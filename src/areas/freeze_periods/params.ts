import { Type as t } from 'typebox'
import type { Freeze } from '../../core/freeze_periods.ts'
import { isCron, zoneOf } from '../../core/crons.ts'
import { invalid, type Problem } from '../../http/problems.ts'

const cron = t.String({ description: 'A cron expression of five fields' })
const zone = t.String({ description: 'An IANA time zone' })

export const newParams = t.Object({
  freeze_start: cron,
  freeze_end: cron,
  cron_timezone: t.Unsafe<string>({ ...zone, default: 'UTC' }),
})
export const changeParams = t.Object({
  freeze_start: t.Optional(cron),
  freeze_end: t.Optional(cron),
  cron_timezone: t.Optional(zone),
})

// The text begins with a blank, as published.
const BAD_CRON = [' is invalid syntax']
const BAD_ZONE = ['syntax is invalid']

/** The crons without blanks around them. Throws 400 for what is no cron or no time zone. */
export function checkFreeze<G extends Partial<Freeze>>(given: G): G {
  const clean = {
    ...given,
    ...(given.freeze_start !== undefined && { freeze_start: given.freeze_start.trim() }),
    ...(given.freeze_end !== undefined && { freeze_end: given.freeze_end.trim() }),
  }
  const { freeze_start, freeze_end, cron_timezone } = clean
  const faults = {
    ...(freeze_start !== undefined && !isCron(freeze_start) && { freeze_start: BAD_CRON }),
    ...(freeze_end !== undefined && !isCron(freeze_end) && { freeze_end: BAD_CRON }),
    ...(cron_timezone !== undefined && zoneOf(cron_timezone) === undefined && { cron_timezone: BAD_ZONE }),
  }
  if (Object.keys(faults).length > 0) throw invalid(faults)
  return clean
}

export const badFreeze = (): Problem => invalid({ freeze_start: BAD_CRON })
