import { sql, type RawBuilder } from 'kysely'
import { listPage, matching, walked } from '../../core/record_list.ts'
import { ROLES, openTo, type Viewer } from '../../core/roles.ts'
import { isSettled } from '../../core/settled.ts'
import type { Db } from '../../db/client.ts'
import { type Listed, paged, pageStatements } from '../../db/pages.ts'
import { statements } from '../../db/statement.ts'
import { shownIssues, type IssueShown } from '../../records/issue.ts'
import type { ConditionName, FilterValues } from './conditions.ts'
import { issuesOf, type Shape, type Values } from './matching.ts'
import { orderOf, type Order } from './orders.ts'

/** Whose issues: of one project, of a group and all below it, or of everything the viewer sees. */
export type Place =
  | { readonly in: 'project'; readonly id: number; readonly role: number }
  | { readonly in: 'group'; readonly id: number }
  | { readonly in: 'everywhere' }

export interface Filter {
  readonly conditions: readonly ConditionName[]
  readonly values: Partial<FilterValues>
  /** Leaves out what archived projects hold. */
  readonly unarchived: boolean
}

type ListShape = Shape & Order

/** What is found by one index, whatever it is compared with. */
const STEADY: readonly ConditionName[] = ['state', 'label', 'assignee', 'iids']
const isSteady = ({ conditions, ...shape }: Shape): boolean =>
  shape.in === 'project' && conditions.every((name) => STEADY.includes(name))
/** Many may bear the label, and much be somebody's, where little is both. */
const isOfTwo = ({ conditions }: Shape): boolean =>
  conditions.includes('label') && conditions.includes('assignee')

/** Each has an index of its own in the order of time. */
const IN_TIME: readonly ConditionName[] = [
  ...(['author', 'mine', 'milestone', 'epic', 'iteration'] as const),
  ...(['unassigned', 'unlabelled', 'no_milestone'] as const),
]
const isInTime = (shape: Shape): boolean =>
  shape.in === 'project' &&
  isSettled(shape.conditions, shape.sees === 'all' ? [...IN_TIME, 'hidden'] : IN_TIME)
/** One index finds them and has them in the order asked for. */
const isWalked = (shape: ListShape): boolean =>
  (shape.order === 'created_at' && ((isSteady(shape) && !isOfTwo(shape)) || isInTime(shape))) ||
  (shape.order === 'updated_at' &&
    shape.in === 'project' &&
    shape.conditions.every((name) => name === 'state'))

/** Each leads to what it finds by an index of its own, in whatever order. */
const LED: readonly ConditionName[] = [
  ...(['label', 'several_labels', 'labels', 'titled', 'labelled', 'unlabelled'] as const),
  ...(['author', 'mine', 'not_author', 'hidden'] as const),
  ...(['assignee', 'on_me', 'assigned', 'unassigned', 'not_assignees'] as const),
  ...(['milestone', 'milestones', 'in_milestone', 'no_milestone'] as const),
  ...(['milestone_started', 'milestone_upcoming'] as const),
  ...(['weighed', 'unweighed', 'epic', 'in_epic', 'no_epic'] as const),
  ...(['iteration', 'iterations', 'in_iteration', 'no_iteration'] as const),
  ...(['emoji', 'any_emoji', 'no_emoji'] as const),
  ...(['due_none', 'due_any', 'due_overdue', 'due_today', 'due_week', 'due_month'] as const),
]
const isPlannedAnew = (shape: ListShape): boolean =>
  !isWalked(shape) && !(isSteady(shape) && isOfTwo(shape)) && !isSettled(shape.conditions, LED)

const list = pageStatements<ListShape, Values, IssueShown>((p, shape) => {
  const issues = issuesOf(p, shape)
  const order = orderOf(shape)
  const shown = (chosen: RawBuilder<unknown>): RawBuilder<IssueShown> => shownIssues(chosen, p.viewer)
  if (!isWalked(shape)) return listPage(issues, order, shown)
  const chosen = sql`select i.id from (${walked(issues, order)}) i
      order by ${order.by} limit ${p.limit} offset ${p.offset}`
  return paged(shown(chosen), sql`select from (${matching(issues).all}) m`)
}, isPlannedAnew)

const counts = statements<Shape, Values, Counts>(
  (p, shape) => sql`
    select count(*)::int as all, count(*) filter (where i.state = 'closed')::int as closed,
           count(*) filter (where i.state = 'opened')::int as opened
      from (${matching(issuesOf(p, shape)).all}) i`,
  (shape) => !isSteady(shape),
)
export interface Counts {
  readonly all: number
  readonly closed: number
  readonly opened: number
}

const NONE: FilterValues = {
  viewer: null,
  state: '',
  issue_type: '',
  iids: [],
  author: 0,
  assignee: 0,
  label: 0,
  more_labels: [],
  titled: '',
  labels: [],
  milestone: 0,
  milestones: [],
  weight: 0,
  epic: 0,
  iteration: 0,
  iterations: [],
  emoji: '',
  created_after: '-infinity',
  created_before: 'infinity',
  updated_after: '-infinity',
  updated_before: 'infinity',
  patterns: [],
  word: '',
  not_iids: [],
  not_author: 0,
  not_assignees: [],
  not_labels: [],
  unwanted_label: 0,
  unwanted_labels: [],
  not_milestones: [],
  not_weight: 0,
  not_epic: 0,
  not_iteration: 0,
  not_iterations: [],
  not_emoji: '',
}

function ask(viewer: Viewer | null, place: Place, filter: Filter): { shape: Shape; values: Values } {
  const everything = viewer?.admin === true
  const planner = everything || (place.in === 'project' && place.role >= ROLES.planner)
  return {
    shape: {
      in: place.in,
      sees: planner ? 'all' : viewer === null ? 'open' : 'own',
      everything,
      unarchived: filter.unarchived,
      conditions: filter.conditions,
    },
    values: {
      ...NONE,
      ...filter.values,
      viewer: viewer?.id ?? null,
      place: place.in === 'everywhere' ? 0 : place.id,
      user_id: viewer?.id ?? 0,
      open_to: openTo(viewer),
      limit: 0,
      offset: 0,
    },
  }
}

interface Page extends Order {
  readonly limit: number
  readonly offset: number
}

/** One page of issues that the viewer sees. */
export async function listIssues(
  db: Db,
  viewer: Viewer | null,
  { place, filter }: { readonly place: Place; readonly filter: Filter },
  { order, descending, limit, offset }: Page,
): Promise<Listed<IssueShown>> {
  const { shape, values } = ask(viewer, place, filter)
  return db.page(list({ ...shape, order, descending }), { ...values, limit, offset })
}

/** How many there are that the viewer sees. */
export async function countIssues(
  db: Db,
  viewer: Viewer | null,
  place: Place,
  filter: Filter,
): Promise<Counts> {
  const { shape, values } = ask(viewer, place, filter)
  const [row] = await db.rows(counts(shape), values)
  return row ?? { all: 0, closed: 0, opened: 0 }
}
