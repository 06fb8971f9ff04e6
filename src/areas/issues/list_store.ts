import { sql, type RawBuilder } from 'kysely'
import { ROLES, openTo, type Viewer } from '../../core/roles.ts'
import type { Db } from '../../db/client.ts'
import { foundFirst } from '../../db/found.ts'
import { listed, paged, statements, type Listed, type Paged, type Slots } from '../../db/statement.ts'
import { shownIssues, type IssueShown } from '../../records/issue.ts'
import type { ConditionName, FilterValues } from './conditions.ts'
import { matching, walked, type ListShape, type Shape, type Values } from './matching.ts'
import { columnsOf, orderBy, type Order, type OrderName } from './orders.ts'

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

/** What is found by one index, whatever it is compared with. */
const STEADY: readonly ConditionName[] = ['state', 'label', 'assignee', 'iids']
const isSteady = ({ conditions, ...shape }: Shape): boolean =>
  shape.in === 'project' && conditions.every((name) => STEADY.includes(name))
/** One index finds them and has them in the order asked for. */
const isWalked = (shape: ListShape): boolean =>
  isSteady(shape) &&
  (shape.order === 'created_at' ||
    (shape.order === 'updated_at' && shape.conditions.every((name) => name === 'state')))

const KNOWN_TO_LINKS: readonly OrderName[] = ['created_at', 'relative_position']

function put(p: Slots<Values>, shape: ListShape): RawBuilder<Paged<IssueShown>> {
  const columns = columnsOf(shape.order)
  const { all, linked } = matching(p, shape)
  const whole = linked && !KNOWN_TO_LINKS.includes(shape.order)
  const issues = sql`found f, lateral (select * from issues where id = f.id offset 0) i`
  return foundFirst({
    all: sql`select ${whole ? sql`i.id` : columns} from (${all}) i`,
    few: sql`select ${columns} from ${whole ? issues : sql`found i`}`,
    walked: sql`select ${columns} from (${walked(p, shape)}) i`,
    order: orderBy(shape),
    page: p,
    shown: (chosen) => shownIssues(chosen, p.viewer),
  })
}

const list = statements<ListShape, Values, Paged<IssueShown>>(
  (p, shape) => {
    if (!isWalked(shape)) return put(p, shape)
    const chosen = sql`select i.id from (${walked(p, shape)}) i
      order by ${orderBy(shape)} limit ${p.limit} offset ${p.offset}`
    return paged(shownIssues(chosen, p.viewer), sql`select from (${matching(p, shape).all}) m`)
  },
  (shape) => !isWalked(shape),
)

const counts = statements<Shape, Values, Counts>(
  (p, shape) => sql`
    select count(*)::int as all, count(*) filter (where i.state = 'closed')::int as closed,
           count(*) filter (where i.state = 'opened')::int as opened
      from (${matching(p, shape).all}) i`,
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
  second_label: 0,
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
  not_milestones: [],
  not_weight: 0,
  not_epic: 0,
  not_iteration: 0,
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
  return listed(await db.rows(list({ ...shape, order, descending }), { ...values, limit, offset }))
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
