import { titleFaults } from '../../core/values/titles.ts'
import { dayOf, formats } from '../../http/params/dates.ts'
import { badParams, refused, type Problem } from '../../http/problems.ts'

const LAST_DAY = '9999-12-31'

/** Attribute to texts, as the published interface words them. */
export type Faults = Readonly<Partial<Record<'title' | 'start_date' | 'due_date', readonly string[]>>>

export const TAKEN = 'already being used for another group or project milestone.'

/** Examples of the published refusals, for the documents. */
export const FAULTY: Faults = { title: [TAKEN] }

/** A day as a caller may send it, or a moment that has one: null and an empty text both take it away. */
export function readDay(name: string, given: string | null | undefined): string | null | undefined {
  if (given === undefined || given === null) return given
  const text = given.trim()
  if (text === '') return null
  if (text.length > LAST_DAY.length + 2 && formats['date']?.(text) === true) return dayOf(text)
  if (!/^\d{4,6}-\d\d-\d\d$/.test(text) || text.startsWith('0000')) throw badParams([`${name} is invalid`])
  // Years of more than four digits are dates too; they are refused by a rule, in its own words.
  const year = text.slice(0, -6)
  const iso = `${year.length > 4 ? `+${year.padStart(6, '0')}` : year}${text.slice(-6)}`
  const time = Date.parse(`${iso}T00:00:00Z`)
  if (Number.isNaN(time) || !new Date(time).toISOString().startsWith(iso))
    throw badParams([`${name} is invalid`])
  return text
}

interface Dates {
  readonly start_date: string | null
  readonly due_date: string | null
}

const isTooLate = (day: string | null): boolean => day !== null && day.length > LAST_DAY.length
const days = (day: string): number => day.length * 1e9 + Number(day.replaceAll('-', ''))

/** Why a milestone will not do. */
export function faultsOf({ title, start_date, due_date }: Dates & { readonly title: string }): Faults {
  const ofTitle = titleFaults(title)
  const tooLate = 'date must not be after 9999-12-31'
  const ofDue = [
    ...(start_date !== null && due_date !== null && days(due_date) <= days(start_date)
      ? ['must be greater than start date']
      : []),
    ...(isTooLate(due_date) ? [tooLate] : []),
  ]
  return {
    ...(ofTitle.length > 0 && { title: ofTitle }),
    ...(ofDue.length > 0 && { due_date: ofDue }),
    ...(isTooLate(start_date) && { start_date: [tooLate] }),
  }
}

/** `{:title=>["can't be blank"]}`: the published message has the faults printed so. */
const printed = (faults: Faults): string =>
  `{${Object.entries(faults)
    .map(([name, texts]) => `:${name}=>[${texts.map((text) => JSON.stringify(text)).join(', ')}]`)
    .join(', ')}}`

export const notCreated = (faults: Faults): Problem =>
  refused(`Failed to create milestone ${printed(faults)}`)
export const notUpdated = (faults: Faults): Problem =>
  refused(`Failed to update milestone ${printed(faults)}`)
export const notPromoted = (text: string): Problem => refused(`Promotion failed - ${text}`)
