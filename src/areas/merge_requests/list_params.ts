import { Type as t, type Static } from 'typebox'
import { containing } from '../../db/text.ts'
import { badParams } from '../../http/problems.ts'
import { listOf, oneOf, timestamp } from '../../http/schema.ts'
import type { Filter, FilterValues } from './filters.ts'
import type { Wanted } from './list_store.ts'
import { ORDERS } from './orders.ts'

const someone = t.Optional(t.String({ description: 'An id, `None` or `Any`' }))
const titles = t.Optional(listOf(t.String()))

/** What can be asked for, and turned round by `not`. */
const ways = {
  author_id: t.Optional(t.Integer()),
  author_username: t.Optional(t.String()),
  assignee_id: someone,
  assignee_username: titles,
  reviewer_id: someone,
  reviewer_username: t.Optional(t.String()),
  milestone: t.Optional(t.String({ description: 'A title, `None`, `Any`, `Upcoming` or `Started`' })),
  labels: titles,
  my_reaction_emoji: t.Optional(t.String({ description: 'The name of an emoji, `None` or `Any`' })),
  source_branch: t.Optional(t.String()),
  target_branch: t.Optional(t.String()),
}

export const listParams = {
  state: t.Optional(oneOf(['opened', 'closed', 'locked', 'merged', 'all'], { default: 'all' })),
  iids: t.Optional(listOf(t.Integer())),
  scope: t.Optional(
    oneOf(['created_by_me', 'assigned_to_me', 'reviews_for_me', 'created-by-me', 'assigned-to-me', 'all']),
  ),
  search: t.Optional(t.String({ description: 'Part of the title or description' })),
  in: t.Optional(t.String({ description: 'Where to search: `title`, `description` or `title,description`' })),
  source_project_id: t.Optional(t.Integer()),
  created_after: t.Optional(timestamp()),
  created_before: t.Optional(timestamp()),
  updated_after: t.Optional(timestamp()),
  updated_before: t.Optional(timestamp()),
  wip: t.Optional(oneOf(['yes', 'no'])),
  draft: t.Optional(t.Boolean()),
  order_by: t.Optional(oneOf(ORDERS, { default: 'created_at' })),
  sort: t.Optional(oneOf(['asc', 'desc'], { default: 'desc' })),
  with_labels_details: t.Optional(t.Boolean({ default: false })),
  with_merge_status_recheck: t.Optional(
    t.Boolean({
      default: false,
      description: 'Taken, and changes nothing: one by itself is always looked at anew',
    }),
  ),
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

type Special = 'assignee' | 'reviewer' | 'milestone' | 'reaction'
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
  // Nobody has this id, and it has always stood for nobody.
  if (given === '0') chosen.only(`${of}_none`)
  else chosen.add(of, Number(given))
}

function choose(chosen: Chosen, given: Static<typeof Ways>): void {
  chosen.add('author', given.author_id)
  chosen.add('author_name', given.author_username || undefined)
  person(chosen, 'assignee', given.assignee_id)
  const names = given.assignee_username ?? []
  if (names.length > 0) chosen.add('assignee_names', names)
  person(chosen, 'reviewer', given.reviewer_id)
  chosen.add('reviewer_name', given.reviewer_username || undefined)
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

/** What a caller asks a list for. `scope` is what the list shows unless they say. */
export function wantedOf(given: Given, scope: 'all' | 'created_by_me'): Wanted {
  const chosen = new Chosen()
  const not = new Chosen()
  const { state = 'all' } = given
  if (state !== 'all') chosen.add('state', state)
  const mine = SCOPES[given.scope ?? scope]
  if (mine !== null) chosen.only(mine)
  chosen.add('iids', given.iids)
  search(chosen, given)
  chosen.add('source_project', given.source_project_id)
  for (const name of ['created_after', 'created_before', 'updated_after', 'updated_before'] as const)
    chosen.add(name, given[name])
  chosen.add('draft', given.draft ?? (given.wip === undefined ? undefined : given.wip === 'yes'))
  choose(chosen, given)
  choose(not, given.not ?? {})
  return {
    filters: chosen.filters,
    not: not.filters,
    values: chosen.values,
    notValues: not.values,
    labels: given.labels ?? [],
    notLabels: given.not?.labels ?? [],
    order: given.order_by ?? 'created_at',
    descending: given.sort !== 'asc',
  }
}
