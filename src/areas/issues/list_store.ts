import { sql, type RawBuilder } from 'kysely'
import { ROLES, homeOf, openTo, type Viewer } from '../../core/roles.ts'
import { hasIssues, issuesOn, mine, role, seesProject } from '../../core/sight.ts'
import type { Db } from '../../db/client.ts'
import type { Visibility } from '../../db/schema.ts'
import {
  listed,
  paged,
  statement,
  statements,
  type Listed,
  type Paged,
  type Slots,
} from '../../db/statement.ts'
import { shownIssues, type IssueShown } from '../../records/issue.ts'
import {
  CONDITIONS,
  orderBy,
  type ConditionName,
  type FilterSlots,
  type FilterValues,
  type OrderName,
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

const seesProjects = (p: P, shape: Shape): RawBuilder<unknown> => sql`
  ${seesProject(p, shape.everything)} and ${shape.everything ? issuesOn : hasIssues}
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

/** Links to one label or one assignee, which know enough of their issues. */
const LINKS = {
  label: (p: P) => sql`
    select k.noteable_id as id, k.issue_project_id as project_id, k.issue_created_at as created_at,
           k.issue_state as state, k.issue_confidential as confidential
      from label_links k where k.label_id = ${p.label} and k.issue_project_id is not null`,
  assignee: (p: P) => sql`
    select a.issue_id as id, a.issue_project_id as project_id, a.issue_created_at as created_at,
           a.issue_state as state, a.issue_confidential as confidential
      from issue_assignees a where a.user_id = ${p.assignee}`,
}
const LINKED: readonly ConditionName[] = [
  ...(['state', 'confidential', 'created_after', 'created_before', 'second_label', 'more_labels'] as const),
]

/** Where the issues of a project can be taken from links, and in their order, they are. */
function viaLinks(
  p: P,
  shape: Shape,
  order: OrderName,
  cut: RawBuilder<unknown>,
): RawBuilder<unknown> | undefined {
  const [by, ...more] = shape.conditions.filter((name) => !LINKED.includes(name))
  if (shape.in !== 'project' || order !== 'created_at' || more.length > 0) return undefined
  if (by !== 'label' && by !== 'assignee') return undefined
  const rest = shape.conditions.filter((name) => name !== by)
  const where = sql.join([sql`true`, ...rest.map((name) => CONDITIONS[name](p as FilterSlots))], sql` and `)
  return sql`select i.id, i.created_at from (${LINKS[by](p)}) i
    where i.project_id = ${p.place} and ${where} and ${seesIssues(p, shape, sql`0`)} ${cut}`
}

/** The issues of the place that match, as a query that `cut` ends; what it selects is all of `i`. */
function matching(p: P, shape: Shape, cut: RawBuilder<unknown>): RawBuilder<unknown> {
  const where = sql.join(
    [sql`true`, ...shape.conditions.map((name) => CONDITIONS[name](p as FilterSlots))],
    sql` and `,
  )
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
    const take = (cut: RawBuilder<unknown>): RawBuilder<unknown> =>
      viaLinks(p, shape, shape.order, cut) ?? matching(p, shape, cut)
    const chosen = sql`select i.id from (${take(reach)}) i ${order} limit ${p.limit} offset ${p.offset}`
    return paged(shownIssues(chosen, p.viewer), sql`select from (${take(sql``)}) m`)
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

interface Names {
  readonly labels: readonly string[]
  readonly milestones: readonly string[]
  readonly not_milestones: readonly string[]
  readonly users: readonly string[]
}
export interface Known {
  /** Where there are several to choose from: how many issues bear it, and how far back the newest 10,001 of them reach. */
  readonly labels: {
    readonly id: number
    readonly title: string
    readonly uses: number
    readonly since: number | null
  }[]
  readonly milestones: number[]
  readonly not_milestones: number[]
  readonly users: { readonly id: number; readonly username: string }[]
}

const known = statement(
  (p: Slots<Names & { project_id: number | null; line: readonly number[] | null }>) => sql<Known>`
    select (select coalesce(json_agg(json_build_object('id', l.id, 'title', l.title, 'uses', used.uses, 'since', used.since)), '[]')
              from labels l, lateral (
                select count(*) as uses, extract(epoch from min(k.issue_created_at)) as since
                  from (select k.issue_created_at from label_links k
                         where cardinality(${p.labels}::text[]) > 1
                           and k.label_id = l.id and k.issue_project_id = ${p.project_id}
                         order by k.issue_created_at desc limit 10001) k) used
             where l.title = any(${p.labels}::text[])
               and (l.project_id = ${p.project_id} or l.group_id = any(${p.line}::bigint[]))) as labels,
           array(select m.id from milestones m where m.title = any(${p.milestones}::text[])
               and (${p.line}::bigint[] is null or m.project_id = ${p.project_id} or m.group_id = any(${p.line}::bigint[])))
             as milestones,
           array(select m.id from milestones m where m.title = any(${p.not_milestones}::text[])
               and (${p.line}::bigint[] is null or m.project_id = ${p.project_id} or m.group_id = any(${p.line}::bigint[])))
             as not_milestones,
           (select coalesce(json_agg(json_build_object('id', u.id, 'username', lower(u.username))), '[]') from users u
             where lower(u.username) = any(${p.users}::text[])) as users`,
)

/** The ids behind names, in a project and the groups above it, or anywhere. */
export async function lookUp(
  db: Db,
  names: Names,
  project: { readonly id: number; readonly traversal_ids: readonly number[] } | undefined,
): Promise<Known> {
  const [row] = await db.rows(known, {
    ...names,
    project_id: project?.id ?? null,
    line: project?.traversal_ids ?? null,
  })
  return row ?? { labels: [], milestones: [], not_milestones: [], users: [] }
}
