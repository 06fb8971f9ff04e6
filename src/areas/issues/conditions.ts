import { sql, type RawBuilder } from 'kysely'
import { LABEL_CONDITIONS, type LabelValues } from '../../core/planning/label_filters.ts'
import { showsEpic } from '../../core/sight/noteables.ts'
import { reacted } from '../../core/lists/records.ts'

/** Values of list conditions, by name. */
export interface FilterValues extends LabelValues {
  readonly viewer: number | null
  readonly state: string
  readonly issue_type: string
  readonly iids: readonly number[]
  readonly author: number
  readonly assignee: number
  readonly milestone: number
  readonly milestones: readonly number[]
  readonly weight: number
  readonly epic: number
  readonly iteration: number
  readonly iterations: readonly number[]
  readonly emoji: string
  readonly created_after: string
  readonly created_before: string
  readonly updated_after: string
  readonly updated_before: string
  readonly patterns: readonly string[]
  readonly word: string
  readonly not_iids: readonly number[]
  readonly not_author: number
  readonly not_assignees: readonly number[]
  readonly not_milestones: readonly number[]
  readonly not_weight: number
  readonly not_epic: number
  readonly not_iteration: number
  readonly not_iterations: readonly number[]
  readonly not_emoji: string
}
export type FilterSlots = { readonly [Name in keyof FilterValues]: RawBuilder<FilterValues[Name]> }
type Condition = (p: FilterSlots) => RawBuilder<unknown>

const assignedTo = (which: RawBuilder<unknown>): RawBuilder<unknown> =>
  sql`exists (select from issue_assignees a where a.issue_id = i.id and ${which})`

/** Issues of one user are read first: seldom more than thousands, however rare they are in the project. */
const isOneOf = (ids: RawBuilder<unknown>): RawBuilder<unknown> => sql`i.id = any(array(${ids}))`
const assignedOnly = (user: RawBuilder<unknown>): RawBuilder<unknown> =>
  isOneOf(sql`select a.issue_id from issue_assignees a where a.user_id = ${user}`)

const started = sql`m.state = 'active' and m.start_date <= today() and (m.due_date is null or m.due_date >= today())`
const upcoming = sql`
  m.state = 'active' and m.due_date > today() and (m.start_date is null or m.start_date > today())`
const inMilestone = (which: RawBuilder<unknown>): RawBuilder<unknown> =>
  sql`exists (select from milestones m where m.id = i.milestone_id and ${which})`
const due = (from: string, to: string): Condition => {
  const day = (offset: string): RawBuilder<unknown> => sql.raw(`(${offset})::date`)
  return () => sql`i.due_date between ${day(from)} and ${day(to)}`
}
const week = `date_trunc('week', today())`
const month = `date_trunc('month', today())`

/** Texts are searched as far as they are indexed. */
const DESCRIPTION = sql`left(i.description, 8000)`

/** An epic that the viewer does not see matches no issue. */
const inEpic: Condition = (p) => sql`(i.epic_id is not null
  and exists (select from epics e where e.id = i.epic_id and ${showsEpic(p.viewer)}))`

/** Every condition that a list can have, on the issue `i`. */
export const CONDITIONS = {
  state: (p) => sql`i.state = ${p.state}`,
  issue_type: (p) => sql`i.issue_type = ${p.issue_type}`,
  hidden: () => sql`i.confidential`,
  shown: () => sql`not i.confidential`,
  iids: (p) => sql`i.iid = any(${p.iids}::bigint[])`,
  mine: (p) => sql`i.author_id = ${p.viewer}`,
  on_me: (p) => assignedOnly(p.viewer),
  author: (p) => sql`i.author_id = ${p.author}`,
  assignee: (p) => assignedOnly(p.assignee),
  assigned: () => assignedTo(sql`true`),
  unassigned: () => sql`not ${assignedTo(sql`true`)}`,
  ...LABEL_CONDITIONS,
  milestone: (p) => sql`i.milestone_id = ${p.milestone}`,
  milestones: (p) => sql`i.milestone_id = any(${p.milestones}::bigint[])`,
  in_milestone: () => sql`i.milestone_id is not null`,
  no_milestone: () => sql`i.milestone_id is null`,
  milestone_started: () => inMilestone(started),
  milestone_upcoming: () => inMilestone(upcoming),
  weight: (p) => sql`i.weight = ${p.weight}`,
  weighed: () => sql`i.weight is not null`,
  unweighed: () => sql`i.weight is null`,
  epic: (p) => sql`i.epic_id = ${p.epic} and ${inEpic(p)}`,
  in_epic: inEpic,
  no_epic: (p) => sql`not ${inEpic(p)}`,
  iteration: (p) => sql`i.iteration_id = ${p.iteration}`,
  iterations: (p) => sql`i.iteration_id = any(${p.iterations}::bigint[])`,
  in_iteration: () => sql`i.iteration_id is not null`,
  no_iteration: () => sql`i.iteration_id is null`,
  emoji: (p) =>
    isOneOf(
      sql`select e.noteable_id from award_emoji e where e.user_id = ${p.viewer} and e.name = ${p.emoji}`,
    ),
  any_emoji: (p) => reacted(p.viewer),
  no_emoji: (p) => sql`not ${reacted(p.viewer)}`,
  created_after: (p) => sql`i.created_at >= ${p.created_after}::timestamptz`,
  created_before: (p) => sql`i.created_at <= ${p.created_before}::timestamptz`,
  updated_after: (p) => sql`i.updated_at >= ${p.updated_after}::timestamptz`,
  updated_before: (p) => sql`i.updated_at <= ${p.updated_before}::timestamptz`,
  due_none: () => sql`i.due_date is null`,
  due_any: () => sql`i.due_date is not null`,
  due_overdue: () => sql`i.due_date < today()`,
  due_today: due('today()', 'today()'),
  due_tomorrow: due('today() + 1', 'today() + 1'),
  due_week: due(week, `${week} + interval '6 days'`),
  due_month: due(month, `${month} + interval '1 month' - interval '1 day'`),
  due_weeks_around: due(`today() - 14`, `${month} + interval '2 months' - interval '1 day'`),
  // Every word must be found in the text; the longest is looked up in the index of trigrams.
  in_title: (p) => sql`i.title ilike ${p.word}`,
  in_description: (p) => sql`${DESCRIPTION} ilike ${p.word}`,
  in_both: (p) => sql`(i.title ilike ${p.word} or ${DESCRIPTION} ilike ${p.word})`,
  others_in_title: (p) => sql`coalesce(i.title ilike all (${p.patterns}::text[]), false)`,
  others_in_description: (p) => sql`coalesce(${DESCRIPTION} ilike all (${p.patterns}::text[]), false)`,
  others_in_both: (p) => sql`coalesce(
    (i.title || ' ' || coalesce(${DESCRIPTION}, '')) ilike all (${p.patterns}::text[]), false)`,
  nothing: () => sql`false`,
  not_iids: (p) => sql`i.iid <> all(${p.not_iids}::bigint[])`,
  not_author: (p) => sql`i.author_id is distinct from ${p.not_author}`,
  not_assignees: (p) => sql`not ${assignedTo(sql`a.user_id = any(${p.not_assignees}::bigint[])`)}`,
  not_milestones: (p) =>
    sql`(i.milestone_id is null or i.milestone_id <> all(${p.not_milestones}::bigint[]))`,
  not_milestone_started: () => sql`not ${inMilestone(started)}`,
  not_milestone_upcoming: () => sql`not ${inMilestone(upcoming)}`,
  not_weight: (p) => sql`i.weight is distinct from ${p.not_weight}`,
  not_epic: (p) => sql`(i.epic_id is distinct from ${p.not_epic} or not ${inEpic(p)})`,
  not_iteration: (p) => sql`i.iteration_id is distinct from ${p.not_iteration}`,
  not_iterations: (p) =>
    sql`(i.iteration_id is null or i.iteration_id <> all(${p.not_iterations}::bigint[]))`,
  not_emoji: (p) => sql`not ${reacted(p.viewer, sql`e.name = ${p.not_emoji}`)}`,
} as const satisfies Record<string, Condition>
export type ConditionName = keyof typeof CONDITIONS
