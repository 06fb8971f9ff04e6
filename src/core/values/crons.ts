import { Cron } from 'croner'

// Cron expressions of five fields in a time zone: those of freeze periods and pipeline schedules.

const MAX_CRON_CHARACTERS = 255

/** Fields of digits, names, `*`, `,`, `-`, `/`, and the `L` and `#` that days take. */
const FIELD = /^[\dA-Za-z*,/#-]+$/

/** Whether the text is a cron expression of five fields. */
export function isCron(text: string): boolean {
  const fields = text.split(/\s+/)
  if (text.length > MAX_CRON_CHARACTERS || fields.length !== 5) return false
  if (!fields.every((field) => FIELD.test(field)) || /w/i.test(withoutNames(text))) return false
  try {
    read(text, 'UTC')
    return true
  } catch {
    return false
  }
}
const withoutNames = (text: string): string => text.replaceAll(/wed/gi, '')

/** Names that forms of other products send for zones whose own name says something else. */
const ZONE_NAMES: Readonly<Record<string, string>> = {
  'Pacific Time (US & Canada)': 'America/Los_Angeles',
  'Mountain Time (US & Canada)': 'America/Denver',
  'Central Time (US & Canada)': 'America/Chicago',
  'Eastern Time (US & Canada)': 'America/New_York',
  'Atlantic Time (Canada)': 'America/Halifax',
  'Indiana (East)': 'America/Indiana/Indianapolis',
  Arizona: 'America/Phoenix',
  Alaska: 'America/Juneau',
  Hawaii: 'Pacific/Honolulu',
  'New Delhi': 'Asia/Kolkata',
  Beijing: 'Asia/Shanghai',
  Bern: 'Europe/Zurich',
  Edinburgh: 'Europe/London',
  Wellington: 'Pacific/Auckland',
}

/** City to IANA name: `Berlin` to `Europe/Berlin`. */
let cities: ReadonlyMap<string, string> | undefined
const findCity = (name: string): string | undefined => {
  cities ??= new Map(
    Intl.supportedValuesOf('timeZone').map((zone) => [
      zone.slice(zone.lastIndexOf('/') + 1).replaceAll('_', ' '),
      zone,
    ]),
  )
  return cities.get(name)
}

/** The IANA name of a time zone given by that name, a city, or one of the usual names; undefined for no zone. */
export function zoneOf(name: string): string | undefined {
  const known = ZONE_NAMES[name] ?? findCity(name) ?? name
  if (!/^[A-Za-z][\w+/-]{1,63}$/.test(known)) return undefined
  try {
    return Intl.DateTimeFormat('en', { timeZone: known }) && known
  } catch {
    return undefined
  }
}

const read = (cron: string, zone: string): Cron => new Cron(cron, { timezone: zone, mode: '5-part' })

/** A day of month that no listed month has: the scan for it would go on for thousands of years. */
function neverFires(cron: string): boolean {
  const [, , days = '*', months = '*', weekdays = '*'] = cron.split(/\s+/)
  // A weekday beside a day of month is an alternative to it.
  if (weekdays !== '*' || !/^[\d,/-]+$/.test(days)) return false
  const earliest = Math.min(...days.split(',').map((part) => Number.parseInt(part, 10)))
  return earliest > Math.max(...months.split(',').map(longestMonth))
}
const MONTHS = ['jan', 'feb', 'mar', 'apr', 'may', 'jun', 'jul', 'aug', 'sep', 'oct', 'nov', 'dec']
const DAYS = [31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31]
const monthOf = (text: string): number => (MONTHS.indexOf(text.toLowerCase()) + 1 || Number(text)) - 1

/** Days of the longest month of `2`, `feb`, `2-4`, `4-6/2`; any step of `*` begins with January. */
function longestMonth(part: string): number {
  const [range = '', step = '1'] = part.split('/')
  if (range.startsWith('*')) return 31
  const [first = '', last = first] = range.split('-')
  const from = monthOf(first)
  return Math.max(
    ...DAYS.filter((_, at) => at >= from && at <= monthOf(last) && (at - from) % Number(step) === 0),
  )
}

/**
 * The first time after `after`, to the second. A local time that daylight saving skips fires when the gap ends; one that
 * comes twice fires the first time. Undefined for a cron that never fires.
 */
export const nextTime = (cron: string, zone: string, after: Date): Date | undefined =>
  neverFires(cron) ? undefined : (read(cron, zone).nextRun(after) ?? undefined)

/** The last time at or before `at`. */
export const lastTime = (cron: string, zone: string, at: Date): Date | undefined =>
  neverFires(cron)
    ? undefined
    : read(cron, zone).previousRuns(1, new Date(Math.floor(at.getTime() / 1000) * 1000 + 1000))[0]
