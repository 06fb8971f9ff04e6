import { refuseLabels, wantLabels, type ChosenLabels } from '../../core/planning/label_filters.ts'
import { titlesOf } from '../../core/planning/labelling.ts'
import type { Db } from '../../db/db.ts'
import { containing } from '../../db/text.ts'
import type { Actor } from '../../http/gate.ts'
import { badParams } from '../../http/problems.ts'
import type { ConditionName } from './conditions.ts'
import type { FilterParams, NotParams } from './filter_params.ts'
import { FilterBuilder, word } from './filter_builder.ts'
import type { Filter } from './list_store.ts'
import { NOTHING, lookUp, type Known, type Where } from './names_store.ts'

const EXCLUSIVE = [
  ['author_id', 'author_username'],
  ['assignee_id', 'assignee_username'],
  ['milestone', 'milestone_id'],
  ['iteration_id', 'iteration_title'],
] as const

function checkTogether(params: FilterParams | NotParams, nameOf: (name: string) => string): void {
  const given = params as Readonly<Record<string, unknown>>
  const faults = EXCLUSIVE.filter((pair) => pair.every((name) => given[name] !== undefined)).map(
    (pair) => `${pair.map(nameOf).join(', ')} are mutually exclusive`,
  )
  if (faults.length > 0) throw badParams(faults)
}

const MOST_LABELS = 100
const MOST_WORDS = 10

const titlesIn = (given: readonly string[] | undefined): string[] =>
  given?.length === 1 && word(given[0]) !== undefined ? [] : titlesOf(given)
const lower = (names: readonly string[] = []): string[] => names.map((name) => name.trim().toLowerCase())

const timeboxOf = ({ milestone, milestone_id }: FilterParams): string | undefined =>
  word(milestone) ?? milestone_id?.toLowerCase()

/** Of a project and below a group it is looked up first which milestones are going on. */
const isPlaced = ({ project, group }: Where): boolean => project !== undefined || group !== undefined

async function resolve(db: Db, params: FilterParams, where: Where): Promise<Known> {
  const { not = {} } = params
  const names = {
    labels: [...titlesIn(params.labels), ...titlesOf(not.labels)],
    milestones: word(params.milestone) === undefined ? [params.milestone ?? []].flat() : [],
    not_milestones: [not.milestone ?? []].flat(),
    iterations: [params.iteration_title ?? []].flat(),
    not_iterations: [not.iteration_title ?? []].flat(),
    timebox: isPlaced(where) ? ['started', 'upcoming'].filter((one) => one === timeboxOf(params)) : [],
    users: lower([
      ...[params.author_username ?? [], not.author_username ?? []].flat(),
      ...(params.assignee_username ?? []),
      ...(not.assignee_username ?? []),
    ]),
  }
  return Object.values(names).every((list) => list.length === 0) ? NOTHING : lookUp(db, names, where)
}

interface Around extends Where {
  readonly db: Db
  readonly actor: Actor | null
}

/** Makes of parameters what a list looks for. Throws the published Problem for those that do not go together. */
export async function filterOf(around: Around, params: FilterParams): Promise<Filter> {
  const { not = {} } = params
  const { db, actor } = around
  checkTogether(params, (name) => name)
  checkTogether(not, (name) => `not[${name}]`)
  if ([params.labels, not.labels].some((titles = []) => titles.length > MOST_LABELS))
    throw badParams(['labels is invalid'])
  const known = await resolve(db, params, around)
  const found = new FilterBuilder()
  columns(found, params)
  people(found, params, known)
  bear(found, wantLabels(params.labels, known.labels))
  bear(found, refuseLabels(not.labels, known.labels))
  timeboxes(found, params, known, isPlaced(around))
  iterations(found, params.iteration_title, known)
  search(found, params)
  // As published, both forms of a scope.
  const scope = params.scope?.replaceAll('-', '_')
  if (scope === 'created_by_me') found.flag(actor === null ? 'nothing' : 'mine')
  if (scope === 'assigned_to_me') {
    if (actor === null) found.flag('nothing')
    else if (found.values.assignee === undefined) found.value('assignee', actor.id)
    else found.flag('on_me')
  }
  negations(found, not, known)
  return {
    conditions: [...new Set(found.conditions)].sort(),
    values: found.values,
    unarchived: params.non_archived === true,
  }
}

function bear(found: FilterBuilder, chosen: ChosenLabels | undefined): void {
  if (chosen === undefined) return found.flag('nothing')
  found.conditions.push(...chosen.conditions)
  Object.assign(found.values, chosen.values)
}

function columns(found: FilterBuilder, params: FilterParams): void {
  found.value('state', params.state === 'all' ? undefined : params.state)
  found.value('issue_type', params.issue_type)
  // No issue has one.
  if (params.health_status !== undefined && word(params.health_status) !== 'none') found.flag('nothing')
  if (params.confidential !== undefined) found.flag(params.confidential ? 'hidden' : 'shown')
  found.value('iids', params.iids)
  found.value('created_after', params.created_after)
  found.value('created_before', params.created_before)
  found.value('updated_after', params.updated_after)
  found.value('updated_before', params.updated_before)
  either(found, params.weight, { is: 'weight', any: 'weighed', none: 'unweighed' })
  either(found, params.epic_id, { is: 'epic', any: 'in_epic', none: 'no_epic' })
  either(found, params.iteration_id, { is: 'iteration', any: 'in_iteration', none: 'no_iteration' })
  const emoji = word(params.my_reaction_emoji)
  if (emoji === undefined) found.value('emoji', params.my_reaction_emoji)
  else found.flag(emoji === 'any' ? 'any_emoji' : 'no_emoji')
  if (params.due_date !== undefined) found.flag(DUE[params.due_date])
}

const DUE = {
  '0': 'due_none',
  any: 'due_any',
  today: 'due_today',
  tomorrow: 'due_tomorrow',
  overdue: 'due_overdue',
  week: 'due_week',
  month: 'due_month',
  next_month_and_previous_two_weeks: 'due_weeks_around',
} as const

interface Either {
  readonly is: 'weight' | 'epic' | 'iteration' | 'assignee'
  readonly any: ConditionName
  readonly none: ConditionName
}
function either(found: FilterBuilder, given: string | undefined, { is, any, none }: Either): void {
  if (given === undefined) return
  const all = word(given)
  // As published, nobody is number 0.
  if (all === undefined && !(is === 'assignee' && Number(given) === 0)) found.value(is, Number(given))
  else found.flag(all === 'any' ? any : none)
}

function people(found: FilterBuilder, params: FilterParams, known: Known): void {
  const idOf = (username: string): number | undefined =>
    known.users.find((user) => user.username === username.trim().toLowerCase())?.id
  const named = (name: 'author' | 'assignee', username: string | undefined): void => {
    if (username === undefined) return
    const id = idOf(username)
    if (id === undefined) found.flag('nothing')
    else found.value(name, id)
  }
  found.value('author', params.author_id)
  named('author', params.author_username)
  either(found, params.assignee_id, { is: 'assignee', any: 'assigned', none: 'unassigned' })
  // Of several the published interface takes the first one.
  named('assignee', params.assignee_username?.[0])
}

function timeboxes(found: FilterBuilder, params: FilterParams, known: Known, placed: boolean): void {
  const { milestone } = params
  const all = timeboxOf(params)
  if (all === 'none') found.flag('no_milestone')
  else if (all === 'any') found.flag('in_milestone')
  else if (placed && all !== undefined) {
    if (known.dated.length > 0) found.value('milestones', known.dated)
    else found.flag('nothing')
  } else if (all === 'started') found.flag('milestone_started')
  else if (all === 'upcoming') found.flag('milestone_upcoming')
  else if (milestone !== undefined) {
    const [id, ...more] = known.milestones
    if (id === undefined) found.flag('nothing')
    else if (more.length === 0) found.value('milestone', id)
    else found.value('milestones', known.milestones)
  }
}

function iterations(found: FilterBuilder, title: string | undefined, known: Known): void {
  if (title === undefined) return
  if (known.iterations.length > 0) found.value('iterations', known.iterations)
  else found.flag('nothing')
}

function search(found: FilterBuilder, params: FilterParams): void {
  const words = (params.search ?? '').split(/\s+/).filter((one) => one !== '')
  if (words.length === 0) return
  const longest = words.reduce((most, one) => (one.length > most.length ? one : most), '')
  found.values.word = containing(longest)
  const others = words.slice(0, MOST_WORDS).filter((one) => one !== longest)
  found.values.patterns = others.map(containing)
  const fields = new Set((params.in ?? 'title,description').split(','))
  const place = fields.size === 2 ? 'both' : fields.has('title') ? 'title' : 'description'
  found.flag(`in_${place}`)
  if (others.length > 0) found.flag(`others_in_${place}`)
}

function negations(found: FilterBuilder, not: NotParams, known: Known): void {
  const idsOf = (names: readonly string[] = []): number[] =>
    known.users.filter((user) => lower(names).includes(user.username)).map(({ id }) => id)
  if (known.not_milestones.length > 0) found.value('not_milestones', known.not_milestones)
  const timebox = not.milestone_id?.toLowerCase()
  if (timebox !== undefined)
    found.flag(timebox === 'started' ? 'not_milestone_started' : 'not_milestone_upcoming')
  found.value('not_iids', not.iids)
  found.value('not_author', not.author_id ?? idsOf([not.author_username ?? []].flat())[0])
  const people = not.assignee_id === undefined ? idsOf(not.assignee_username) : [not.assignee_id]
  if (people.length > 0) found.value('not_assignees', people)
  found.value('not_weight', not.weight)
  found.value('not_epic', not.epic_id)
  found.value('not_iteration', not.iteration_id)
  if (known.not_iterations.length > 0) found.value('not_iterations', known.not_iterations)
  found.value('not_emoji', not.my_reaction_emoji)
}
