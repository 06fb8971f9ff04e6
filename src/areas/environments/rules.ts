import { environmentNameFaults, externalUrlFaults } from '../../core/delivery/environments.ts'
import { Problem, badParams, invalid, refused } from '../../http/problems.ts'

const DAY = 86_400_000
const WEEK = 7 * DAY
const TEN_YEARS = 3_652 * DAY
const MIN_SEARCH_CHARACTERS = 3

export const taken = (): Problem => invalid({ name: ['has already been taken'] })
export const slugGiven = (): Problem => badParams(['slug is automatically generated and cannot be changed'])
export const bothGiven = (): Problem => badParams(['name, search cannot be used together'])
export const shortSearch = (): Problem =>
  refused(`400 Bad request - Search query is less than ${MIN_SEARCH_CHARACTERS} characters`)
export const badDate = (): Problem => refused('400 Bad request - Invalid Date')

/** Throws 400 for a search that cannot be answered. */
export function checkSearch({ name, search }: { readonly name?: string; readonly search?: string }): void {
  if (name !== undefined && search !== undefined) throw bothGiven()
  if (search !== undefined && search !== '' && search.length < MIN_SEARCH_CHARACTERS) throw shortSearch()
}

interface Given {
  readonly name?: string
  readonly external_url?: string | null
  readonly slug?: unknown
}
/** The address as it is kept: an empty one is none. Throws 400 for what no environment can have. */
export function checkEnvironment({ name, external_url, slug }: Given): {
  readonly external_url?: string | null
} {
  if (slug !== undefined) throw slugGiven()
  const url = external_url?.trim() === '' ? null : external_url
  const faults = {
    name: name === undefined ? [] : environmentNameFaults(name),
    external_url: externalUrlFaults(url ?? ''),
  }
  const found = Object.entries(faults).filter(([, texts]) => texts.length > 0)
  if (found.length > 0) throw invalid(Object.fromEntries(found))
  return url === undefined ? {} : { external_url: url }
}

/** The time before which environments are stale. Throws 400 for less than a week and more than ten years ago. */
export function checkStale(before: string, now: Date): Date {
  const date = new Date(before)
  const age = now.getTime() - date.getTime()
  if (!(age >= WEEK && age <= TEN_YEARS)) throw badDate()
  return date
}

const AGE_OF_REVIEW_APPS = 30 * DAY
export const reviewAppsBefore = (before: string | undefined, now: Date): Date =>
  before === undefined ? new Date(now.getTime() - AGE_OF_REVIEW_APPS) : new Date(before)

const NONE_FOUND =
  'No environments found for scheduled deletion. Either your query did not match any environments (default parameters ' +
  'match environments that are 30 days or older), or you have insufficient permissions to delete matching environments.'
export const noReviewApps = (): Problem =>
  new Problem(400, { message: { scheduled_entries: [], unprocessable_entries: [], message: NONE_FOUND } })
