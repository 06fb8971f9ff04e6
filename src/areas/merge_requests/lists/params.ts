import { Type as t, type Static } from 'typebox'
import { containing } from '../../../db/text.ts'
import { badParams } from '../../../http/problems.ts'
import { listOf, oneOf, timestamp } from '../../../http/params/schema.ts'
import type { Filter, FilterValues } from './filters.ts'
import type { Wanted } from './store.ts'
import { ORDERS } from './orders.ts'

const someone = t.Optional(t.String({ description: 'An id, `None` or `Any`' }))
const titles = t.Optional(listOf(t.String()))

/** Filters, and their negations below `not`. */
const ways = {
  author_id: t.Optional(t.Integer()),
  author_username: t.Optional(t.String()),
  assignee_id: someone,
  assignee_username: titles,
  reviewer_id: someone,
  reviewer_username: t.Optional(t.String()),
  approved_by_ids: t.Optional(
    listOf(t.String({ description: 'Ids, of all of whom it is approved; or `None` or `Any`' })),
  ),
  approved_by_usernames: t.Optional(
    listOf(t.String({ description: 'User names, of all of whom it is approved; or `None` or `Any`' })),
  ),
  milestone: t.Optional(t.String({ description: 'A title, `None`, `Any`, `Upcoming` or `Started`' })),
  labels: titles,
  my_reaction_emoji: t.Optional(t.String({ description: 'The name of an emoji, `None` or `Any`' })),
  source_branch: t.Optional(t.String()),
  target_branch: t.Optional(t.String()),
}

export const listParams = {
  state: oneOf(['opened', 'closed', 'locked', 'merged', 'all'], { default: 'all' }),
  iids: t.Optional(listOf(t.Integer())),
  scope: t.Optional(
    oneOf(['created_by_me', 'assigned_to_me', 'reviews_for_me', 'created-by-me', 'assigned-to-me', 'all']),
  ),
  search: t.Optional(t.String({ description: 'Part of the title or description' })),
  in: t.Optional(t.String({ description: 'Where to search: `title`, `description` or `title,description`' })),
  source_project_id: t.Optional(t.Integer()),
  merge_user_id: t.Optional(t.Integer({ description: 'Who merged it' })),
  merge_user_username: t.Optional(t.String()),
  approved: t.Optional(oneOf(['yes', 'no'], { description: 'Whether anybody has approved it' })),
  environment: t.Optional(t.String({ description: 'The name of an environment that it was deployed to' })),
  deployed_after: t.Optional(timestamp()),
  deployed_before: t.Optional(timestamp()),
  created_after: t.Optional(timestamp()),
  created_before: t.Optional(timestamp()),
  updated_after: t.Optional(timestamp()),
  updated_before: t.Optional(timestamp()),
  wip: t.Optional(oneOf(['yes', 'no'])),
  draft: t.Optional(t.Boolean()),
  order_by: oneOf(ORDERS, { default: 'created_at' }),
  sort: oneOf(['asc', 'desc'], { default: 'desc' }),
  with_labels_details: t.Boolean({ default: false }),
  with_merge_status_recheck: t.Boolean({
    default: false,
    description: 'Taken, and changes nothing: one by itself is always looked at anew',
  }),
  ...ways,
  not: t.Optional(t.Object(ways)),
}
const Ways = t.Object(ways)
const ListParams = t.Object(listParams)
type Given = Static<typeof ListParams>

class Chosen {
  readonly filters: Filter[] = []
  readonly values: Record<string, unknown> = {}

  /** A filter with the value that bears its name. */
  add<Name extends Filter & keyof FilterValues>(filter: Name, value: FilterValues[Name] | undefined): void {
    if (value === undefined) return
    this.filters.push(filter)
    this.values[filter] = value
  }
  only(filter: Filter): void {
    this.filters.push(filter)
  }
}

type Special = 'assignee' | 'reviewer' | 'approver' | 'milestone' | 'reaction'
/** `None` and `Any`, in any letter case, ask whether there is one at all. */
function special(chosen: Chosen, of: Special, word: string | undefined): boolean {
  const which = word?.toLowerCase()
  if (which !== 'none' && which !== 'any') return false
  chosen.only(`${of}_${which}`)
  return true
}

function person(chosen: Chosen, of: 'assignee' | 'reviewer', given: string | undefined): void {
  if (given === undefined || given === '' || special(chosen, of, given)) return
  if (!/^\d{1,15}$/.test(given))
    throw badParams([`${of}_id should be an integer, \`None\`, or \`Any\`, however got ${given}`])
  // This id means no user, as published.
  if (given === '0') chosen.only(`${of}_none`)
  else chosen.add(of, Number(given))
}

/** So many users may be named. */
const MOST_APPROVERS = 100

/** Approved by all of those named; turned round, by none of them. */
function approvals(chosen: Chosen, given: Static<typeof Ways>, turned: boolean): void {
  const nameOf = (name: string): string => (turned ? `not[${name}]` : name)
  const ids = approversOf(chosen, given.approved_by_ids)
  if (!ids.every((id) => /^\d{1,15}$/.test(id)))
    throw badParams([`${nameOf('approved_by_ids')} should be an array, 'None' or 'Any'`])
  const names = approversOf(chosen, given.approved_by_usernames)
  if (ids.length > MOST_APPROVERS) throw badParams([`${nameOf('approved_by_ids')} is invalid`])
  if (names.length > MOST_APPROVERS) throw badParams([`${nameOf('approved_by_usernames')} is invalid`])
  const [id, ...otherIds] = ids.map(Number)
  const [name, ...otherNames] = names
  if (turned) {
    if (id !== undefined) chosen.add('approver_among', [id, ...otherIds])
    if (name !== undefined) chosen.add('approver_name_among', names)
    return
  }
  chosen.add('approver', id)
  if (otherIds.length > 0) chosen.add('approvers', otherIds)
  chosen.add('approver_name', name)
  if (otherNames.length > 0) chosen.add('approver_names', otherNames)
}
/** None where a word asks whether there is one at all. */
function approversOf(chosen: Chosen, given: readonly string[] = []): readonly string[] {
  const all = [...new Set(given)].filter((one) => one !== '')
  return all.length === 1 && special(chosen, 'approver', all[0]) ? [] : all
}

/** Filters by merger, approval and deployment. */
function outcome(chosen: Chosen, given: Given): void {
  if (given.merge_user_id !== undefined && given.merge_user_username !== undefined)
    throw badParams(['merge_user_id, merge_user_username are mutually exclusive'])
  chosen.add('merge_user', given.merge_user_id)
  chosen.add('merge_user_name', given.merge_user_username || undefined)
  if (given.approved !== undefined) chosen.only(given.approved === 'yes' ? 'approver_any' : 'approver_none')
  deployment(chosen, given)
}

function deployment(chosen: Chosen, given: Given): void {
  const wanted = {
    environment: given.environment || null,
    deployed_after: given.deployed_after || null,
    deployed_before: given.deployed_before || null,
  }
  if (Object.values(wanted).every((value) => value === null)) return
  chosen.only('deployed')
  Object.assign(chosen.values, wanted)
}

function choose(chosen: Chosen, given: Static<typeof Ways>, turned = false): void {
  chosen.add('author', given.author_id)
  chosen.add('author_name', given.author_username || undefined)
  person(chosen, 'assignee', given.assignee_id)
  const names = given.assignee_username ?? []
  if (names.length > 0) chosen.add('assignee_names', names)
  person(chosen, 'reviewer', given.reviewer_id)
  chosen.add('reviewer_name', given.reviewer_username || undefined)
  approvals(chosen, given, turned)
  const { milestone = '', my_reaction_emoji: emoji = '' } = given
  const when = milestone.toLowerCase()
  if (when === 'upcoming' || when === 'started') chosen.only(`milestone_${when}`)
  else if (milestone !== '' && !special(chosen, 'milestone', milestone)) chosen.add('milestone', milestone)
  if (emoji !== '' && !special(chosen, 'reaction', emoji)) chosen.add('reaction', emoji)
  chosen.add('source_branch', given.source_branch || undefined)
  chosen.add('target_branch', given.target_branch || undefined)
}

function search(chosen: Chosen, { search: text = '', in: where = 'title,description' }: Given): void {
  if (text === '') return
  const places = where.split(',').map((place) => place.trim())
  const [title, description] = [places.includes('title'), places.includes('description')]
  if (title === description) chosen.add('title_or_description', containing(text))
  else chosen.add(title ? 'title' : 'description', containing(text))
}

/** The filter that a scope stands for; two have an older name, with dashes. */
const SCOPES: Readonly<Record<NonNullable<Given['scope']>, Filter | null>> = {
  created_by_me: 'created_by_me',
  assigned_to_me: 'assigned_to_me',
  reviews_for_me: 'reviews_for_me',
  'created-by-me': 'created_by_me',
  'assigned-to-me': 'assigned_to_me',
  all: null,
}

/** The filters of a list request. `scope` has the default of the list. */
export function wantedOf(given: Given, scope: 'all' | 'created_by_me'): Wanted {
  const chosen = new Chosen()
  const not = new Chosen()
  const { state } = given
  if (state !== 'all') chosen.add('state', state)
  const mine = SCOPES[given.scope ?? scope]
  if (mine !== null) chosen.only(mine)
  chosen.add('iids', given.iids)
  search(chosen, given)
  chosen.add('source_project', given.source_project_id)
  for (const name of ['created_after', 'created_before', 'updated_after', 'updated_before'] as const)
    chosen.add(name, given[name])
  outcome(chosen, given)
  chosen.add('draft', given.draft ?? (given.wip === undefined ? undefined : given.wip === 'yes'))
  choose(chosen, given)
  choose(not, given.not ?? {}, true)
  return {
    filters: chosen.filters,
    not: not.filters,
    values: chosen.values,
    notValues: not.values,
    labels: given.labels ?? [],
    notLabels: given.not?.labels ?? [],
    order: given.order_by,
    descending: given.sort !== 'asc',
  }
}
