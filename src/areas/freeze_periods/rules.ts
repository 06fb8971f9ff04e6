import type { Freeze } from '../../core/delivery/freeze_periods.ts'
import { isCron, zoneOf } from '../../core/values/crons.ts'
import { invalid } from '../../http/problems.ts'

/** The text begins with a blank, as published. */
export const BAD_CRON = [' is invalid syntax']
const BAD_ZONE = ['syntax is invalid']

/** The crons without blanks around them. Throws 400 for an invalid cron or time zone. */
export function checkFreeze<G extends Partial<Freeze>>(given: G): G {
  const clean = { ...given }
  const faults: Record<string, readonly string[]> = {}
  for (const name of ['freeze_start', 'freeze_end'] as const) {
    const cron = clean[name]?.trim()
    if (cron === undefined) continue
    clean[name] = cron
    if (!isCron(cron)) faults[name] = BAD_CRON
  }
  const zone = given.cron_timezone
  if (zone !== undefined && zoneOf(zone) === undefined) faults['cron_timezone'] = BAD_ZONE
  if (Object.keys(faults).length > 0) throw invalid(faults)
  return clean
}
