import { isCron, zoneOf } from '../../core/values/crons.ts'
import { lengthFaults } from '../../core/values/lengths.ts'
import { invalid, type Problem } from '../../http/problems.ts'
import type { Kept } from './store.ts'

/** The text begins with a blank, as published. */
export const BAD_CRON = [' is invalid syntax']
const MAX_KEY_CHARACTERS = 255
const MAX_VALUE_CHARACTERS = 10_000

export const tooMany = (limit = 10): Problem =>
  invalid({ base: [`Maximum number of ci pipeline schedules (${limit}) exceeded`] })

/** The schedule with its cron trimmed. Throws 400 for an invalid cron, time zone or description. */
export function checkSchedule<G extends Partial<Pick<Kept, 'cron' | 'cron_timezone' | 'description'>>>(
  given: G,
): G {
  const clean = { ...given }
  const faults: Record<string, readonly string[]> = {}
  if (given.description?.trim() === '') faults['description'] = ["can't be blank"]
  if (clean.cron !== undefined) {
    clean.cron = clean.cron.trim()
    if (!isCron(clean.cron)) faults['cron'] = BAD_CRON
  }
  if (clean.cron_timezone !== undefined && zoneOf(clean.cron_timezone) === undefined)
    faults['cron_timezone'] = BAD_CRON
  if (Object.keys(faults).length > 0) throw invalid(faults)
  return clean
}

export const taken = (): Problem => invalid({ key: ['has already been taken'] })

/** Throws 400 for a key or value that no variable can have. */
export function checkVariable({ key, value = '' }: { readonly key: string; readonly value?: string }): void {
  const faults = {
    key: [
      ...(key === '' ? ["can't be blank"] : []),
      ...lengthFaults(key, MAX_KEY_CHARACTERS),
      ...(/^\w+$/.test(key) ? [] : ["can contain only letters, digits and '_'."]),
    ],
    value: lengthFaults(value, MAX_VALUE_CHARACTERS),
  }
  const found = Object.entries(faults).filter(([, texts]) => texts.length > 0)
  if (found.length > 0) throw invalid(Object.fromEntries(found))
}
