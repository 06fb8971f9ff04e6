import { sql } from 'kysely'
import { NO_LABELS } from '../../core/planning/label_filters.ts'
import { listPage, matching } from '../../core/lists/records.ts'
import { ROLES, openTo, type Viewer } from '../../core/sight/roles.ts'
import type { Db } from '../../db/db.ts'
import { type Listed, pageStatements } from '../../db/pages.ts'
import { statements } from '../../db/statement.ts'
import { shownIssues, type IssueShown } from '../../records/planning/issue.ts'
import type { ConditionName, FilterValues } from './conditions.ts'
import { issuesOf, type Shape, type Values } from './matching.ts'
import { orderOf, type Order } from './orders.ts'

/** Issues of a project, of a group and all below it, or all that the viewer sees. */
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

/** How many issues a filter leaves depends on its value: only the plain list of a project is planned once for all. */
const isFiltered = (shape: Shape): boolean =>
  shape.in !== 'project' || shape.conditions.some((name) => name !== 'state')

const list = pageStatements<ListShape, Values, IssueShown>(
  (p, shape) => listPage(issuesOf(p, shape), orderOf(shape), (chosen) => shownIssues(chosen, p.viewer)),
  isFiltered,
)

const counts = statements<Shape, Values, Counts>(
  (p, shape) => sql`
    select count(*)::int as all, count(*) filter (where i.state = 'closed')::int as closed,
           count(*) filter (where i.state = 'opened')::int as opened
      from (${matching(issuesOf(p, shape), sql`i.state`)}) i`,
  isFiltered,
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
  ...NO_LABELS,
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
