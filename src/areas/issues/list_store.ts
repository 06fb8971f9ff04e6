import { sql, type RawBuilder } from 'kysely'
import { ROLES, homeOf, openTo, type Viewer } from '../../core/roles.ts'
import { mine, role, seesProject } from '../../core/sight.ts'
import type { Db } from '../../db/client.ts'
import type { Visibility } from '../../db/schema.ts'
import { listed, paged, statements, type Listed, type Paged } from '../../db/statement.ts'
import { shownIssues, type IssueShown } from '../../records/issue.ts'
import {
  CONDITIONS,
  orderBy,
  type ConditionName,
  type FilterSlots,
  type FilterValues,
  type OrderName,
  type Walk,
} from './conditions.ts'

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
interface Shape {
  readonly in: Place['in']
  /** Which confidential ones: all of them, one's own, or none. */
  readonly sees: 'all' | 'own' | 'open'
  readonly everything: boolean
  readonly unarchived: boolean
  readonly conditions: readonly ConditionName[]
}
type ListShape = Shape & { readonly order: OrderName; readonly descending: boolean }

type Values = FilterValues & {
  readonly place: number
  readonly user_id: number
  readonly open_to: readonly Visibility[]
  readonly limit: number
  readonly offset: number
}
type P = { readonly [Name in keyof Values]: RawBuilder<Values[Name]> }

const open = (name: 'issues'): RawBuilder<unknown> => sql`
  coalesce(p.settings->>${sql.lit(`${name}_access_level`)},
           case when p.settings->>${sql.lit(`${name}_enabled`)} = 'false' then 'disabled' else 'enabled' end)`

/** Whether issues are switched on in the project `p` for the viewer. */
const hasIssues = (everything: boolean): RawBuilder<unknown> =>
  everything
    ? sql`${open('issues')} <> 'disabled'`
    : sql`(${open('issues')} = 'enabled' or (${open('issues')} = 'private' and ${role} >= ${sql.lit(ROLES.guest)}))`

const seesProjects = (p: P, shape: Shape): RawBuilder<unknown> => sql`
  ${seesProject(p, shape.everything)} and ${hasIssues(shape.everything)}
  ${shape.unarchived ? sql`and not p.archived` : sql``}`

/** The viewer's own confidential issues, looked up once for the whole list. */
function isOwn(p: P, shape: Shape): RawBuilder<unknown> {
  const here = (column: string): RawBuilder<unknown> =>
    shape.in === 'project' ? sql`and ${sql.ref(column)} = ${p.place}` : sql``
  return sql`i.id in (
    select o.id from issues o where o.author_id = ${p.viewer} and o.confidential ${here('o.project_id')}
    union all
    select a.issue_id from issue_assignees a
     where a.user_id = ${p.viewer} and a.issue_confidential ${here('a.issue_project_id')})`
}

/** The rule of `seesIssue`, for many at once. */
const seesIssues = (p: P, shape: Shape, role: RawBuilder<unknown>): RawBuilder<unknown> => {
  if (shape.sees === 'all') return sql`true`
  if (shape.sees === 'open') return sql`not i.confidential`
  const planner = shape.in === 'project' ? sql`` : sql`or ${role} >= ${sql.lit(ROLES.planner)}`
  return sql`(not i.confidential ${planner} or ${isOwn(p, shape)})`
}

const all = (p: P, conditions: readonly ConditionName[], walk: Walk): RawBuilder<unknown> =>
  sql.join([sql`true`, ...conditions.map((name) => CONDITIONS[name](p as FilterSlots, walk))], sql` and `)

const SEARCHES: readonly ConditionName[] = ['in_title', 'in_description', 'in_both']
/** How a list in an order, or one that is only counted, goes through its issues. */
const walkOf = (shape: Shape, order?: OrderName): Walk =>
  shape.in === 'project' &&
  (order ?? 'created_at') === 'created_at' &&
  !SEARCHES.some((name) => shape.conditions.includes(name))
    ? 'in time'
    : 'otherwise'

interface Cut {
  /** How a walk goes. */
  readonly order: RawBuilder<unknown>
  /** Where it ends. */
  readonly cut: RawBuilder<unknown>
}

/** Links to one label or one assignee, which know enough of their issues. */
const LINKS = {
  label: (p: P, label = p.label) => sql`
    select k.noteable_id as id, k.issue_created_at as created_at,
           k.issue_state as state, k.issue_confidential as confidential
      from label_links k where k.label_id = ${label} and k.issue_project_id = ${p.place}`,
  assignee: (p: P) => sql`
    select a.issue_id as id, a.issue_created_at as created_at,
           a.issue_state as state, a.issue_confidential as confidential
      from issue_assignees a where a.user_id = ${p.assignee} and a.issue_project_id = ${p.place}`,
}
const LINKED: readonly ConditionName[] = [
  ...(['state', 'confidential', 'created_after', 'created_before', 'not_labels'] as const),
  ...(['second_label', 'common_label', 'more_labels'] as const),
]

/** Where the issues of a project can be taken from links, and in their order, they are. */
function viaLinks(p: P, shape: Shape, { order, cut }: Cut): RawBuilder<unknown> | undefined {
  const [by, ...more] = shape.conditions.filter((name) => !LINKED.includes(name))
  if (shape.in !== 'project' || more.length > 0) return undefined
  if (by !== 'label' && by !== 'assignee') return undefined
  // Two labels that many bear are walked side by side: to look for the one at each of the other costs more.
  const both = by === 'label' && shape.conditions.includes('common_label')
  const walked = (links: RawBuilder<unknown>): RawBuilder<unknown> =>
    both ? sql`(select * from (${links}) i ${order} offset 0)` : sql`(${links})`
  const other = sql`join ${walked(LINKS.label(p, p.second_label))} o on o.created_at = i.created_at and o.id = i.id`
  const rest = shape.conditions.filter((name) => name !== by && !(both && name === 'common_label'))
  return sql`select i.id, i.created_at from ${walked(LINKS[by](p))} i ${both ? other : sql``}
    where ${all(p, rest, 'in time')} and ${seesIssues(p, shape, sql`0`)} ${cut}`
}

/** The issues of the place that match, as a query that `cut` ends; what it selects is all of `i`. */
function matching(p: P, shape: Shape, cut: RawBuilder<unknown>, order?: OrderName): RawBuilder<unknown> {
  const where = all(p, shape.conditions, walkOf(shape, order))
  if (shape.in === 'project')
    return sql`select i.* from issues i
      where i.project_id = ${p.place} and ${seesIssues(p, shape, sql`0`)} and ${where} ${cut}`
  const caller = sql`with ${mine(p)}`
  // Each project is walked by its own index, and only as far as the page reaches.
  if (shape.in === 'group')
    return sql`${caller}, places as materialized (
        select p.id, ${shape.everything ? sql`0` : role} as role from projects p, ${homeOf} n
         where p.namespace_id = any(array(select d.id from namespaces d where d.traversal_ids @> array[${p.place}::bigint]))
           and ${seesProjects(p, shape)})
      select i.* from places v, lateral (
        select i.* from issues i
         where i.project_id = v.id and ${seesIssues(p, shape, sql`v.role`)} and ${where} ${cut}) i`
  return sql`${caller} select i.* from issues i join projects p on p.id = i.project_id, ${homeOf} n
    where ${where} and ${seesProjects(p, shape)} and ${seesIssues(p, shape, role)} ${cut}`
}

const list = statements<ListShape, Values, Paged<IssueShown>>(
  (p, shape) => {
    const order = sql`order by ${orderBy(shape.order, shape.descending)}`
    const reach = sql`${order} limit ${p.limit}::bigint + ${p.offset}::bigint`
    // Links are in the order of time only, but counted in any.
    const inTime = shape.order === 'created_at' ? order : sql`order by i.created_at desc, i.id desc`
    const found =
      (shape.order === 'created_at' && viaLinks(p, shape, { order, cut: reach })) ||
      matching(p, shape, reach, shape.order)
    const chosen = sql`select i.id from (${found}) i ${order} limit ${p.limit} offset ${p.offset}`
    const counted = viaLinks(p, shape, { order: inTime, cut: sql`` }) ?? matching(p, shape, sql``)
    return paged(shownIssues(chosen), sql`select from (${counted}) m`)
  },
  { planned: 'anew' },
)

const counts = statements<Shape, Values, Counts>(
  (p, shape) => sql`
    select count(*)::int as all, count(*) filter (where i.state = 'closed')::int as closed,
           count(*) filter (where i.state = 'opened')::int as opened
      from (${matching(p, shape, sql``)}) i`,
  { planned: 'anew' },
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
  confidential: false,
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
  iteration_title: '',
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

interface Page {
  readonly order: OrderName
  readonly descending: boolean
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
