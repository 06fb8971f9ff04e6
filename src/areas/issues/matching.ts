import { sql, type RawBuilder } from 'kysely'
import { ROLES, homeOf } from '../../core/roles.ts'
import { mine, role, seesIssuesOf } from '../../core/sight.ts'
import type { Visibility } from '../../db/schema.ts'
import {
  CONDITIONS,
  type ConditionName,
  type FilterSlots,
  type FilterValues,
  type Walk,
} from './conditions.ts'
import { inTurn } from './in_turn.ts'
import { columnsOf, orderBy, type Order } from './orders.ts'

// Which issues a list finds, as a part of its statement.

export interface Shape {
  readonly in: 'project' | 'group' | 'everywhere'
  /** Which confidential ones: all of them, one's own, or none. */
  readonly sees: 'all' | 'own' | 'open'
  readonly everything: boolean
  readonly unarchived: boolean
  readonly conditions: readonly ConditionName[]
}
export type ListShape = Shape & Order

export type Values = FilterValues & {
  readonly place: number
  readonly user_id: number
  readonly open_to: readonly Visibility[]
  readonly limit: number
  readonly offset: number
}
export type P = { readonly [Name in keyof Values]: RawBuilder<Values[Name]> }

const has = ({ conditions }: Shape, names: readonly ConditionName[]): boolean =>
  names.some((name) => conditions.includes(name))

const seesProjects = (p: P, shape: Shape): RawBuilder<unknown> => sql`
  ${seesIssuesOf(p, shape.everything)}
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
  if (has(shape, ['shown'])) return sql`true`
  const planner = shape.in === 'project' ? sql`` : sql`or ${role} >= ${sql.lit(ROLES.planner)}`
  const open = has(shape, ['hidden']) ? sql`false` : sql`not i.confidential`
  return sql`(${open} ${planner} or ${isOwn(p, shape)})`
}

const all = (p: P, conditions: readonly ConditionName[], walk: Walk): RawBuilder<unknown> =>
  sql.join([sql`true`, ...conditions.map((name) => CONDITIONS[name](p as FilterSlots, walk))], sql` and `)

const SEARCHES: readonly ConditionName[] = ['in_title', 'in_description', 'in_both']
const REACTIONS: readonly ConditionName[] = ['emoji', 'any_emoji', 'no_emoji', 'not_emoji']

export interface Cut {
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
  assignee: (p: P, project: RawBuilder<unknown> = p.place) => sql`
    select a.issue_id as id, a.issue_created_at as created_at,
           a.issue_state as state, a.issue_confidential as confidential
      from issue_assignees a where a.user_id = ${p.assignee} and a.issue_project_id = ${project}`,
}
const LINKED: readonly ConditionName[] = [
  ...(['state', 'hidden', 'shown', 'created_after', 'created_before', 'not_labels'] as const),
  ...(['second_label', 'common_label', 'more_labels', 'labels'] as const),
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
  return sql`select i.id, i.created_at, i.state from ${walked(by === 'label' ? LINKS.label(p) : LINKS.assignee(p))} i ${both ? other : sql``}
    where ${all(p, rest, 'in time')} and ${seesIssues(p, shape, sql`0`)} ${cut}`
}

/** The projects of a group that the viewer sees the issues of. */
const places = (p: P, shape: Shape): RawBuilder<unknown> => sql`
  select p.id, ${shape.everything ? sql`0` : role} as role from projects p, ${homeOf} n
   where p.namespace_id = any(array(select d.id from namespaces d where d.traversal_ids @> array[${p.place}::bigint]))
     and ${seesProjects(p, shape)}`

/** The same of a group: each of its projects may have a label of the title, and so may groups. */
function viaTitle(p: P, shape: Shape, cut: RawBuilder<unknown>): RawBuilder<unknown> | undefined {
  const rest = shape.conditions.filter((name) => name !== 'titled')
  if (shape.in !== 'group' || rest.length === shape.conditions.length) return undefined
  if (!rest.every((name) => LINKED.includes(name))) return undefined
  // What bears two labels of the title is found by the first of them.
  return sql`with ${mine(p)}, places as materialized (${places(p, shape)}),
    titled as materialized (select l.id, l.project_id from labels l where l.title = ${p.titled}),
    borne as materialized (
      select v.*, t.id as label_id, '{}'::bigint[] as before from places v join titled t on t.project_id = v.id
      union all
      select v.*, t.id, array(select o.id from titled o where o.project_id = v.id or (o.project_id is null and o.id < t.id))
        from places v, titled t where t.project_id is null)
    select i.* from borne v, lateral (
      select i.* from (
        select k.noteable_id as id, k.issue_created_at as created_at, k.issue_state as state,
               k.issue_confidential as confidential
          from label_links k where k.label_id = v.label_id and k.issue_project_id = v.id) i
       where ${all(p, rest, 'led')} and ${seesIssues(p, shape, sql`v.role`)}
         and (v.before = '{}' or not exists (
           select from label_links b where b.noteable_id = i.id and b.label_id = any(v.before)))
       ${cut}) i`
}

/** What somebody is to do in a group. */
function viaAssignee(p: P, shape: Shape, cut: RawBuilder<unknown>): RawBuilder<unknown> | undefined {
  const rest = shape.conditions.filter((name) => name !== 'assignee')
  if (shape.in !== 'group' || rest.length === shape.conditions.length) return undefined
  if (!rest.every((name) => LINKED.includes(name))) return undefined
  return sql`with ${mine(p)}, places as materialized (${places(p, shape)})
    select i.* from places v, lateral (
      select i.* from (${LINKS.assignee(p, sql`v.id`)}) i
       where ${all(p, rest, 'led')} and ${seesIssues(p, shape, sql`v.role`)} ${cut}) i`
}

/** The same from links alone, where they say all that is asked and the order is that of time. */
const byLinks = (p: P, shape: Shape, cut: Cut): RawBuilder<unknown> | undefined =>
  viaLinks(p, shape, cut) ?? viaTitle(p, shape, cut.cut) ?? viaAssignee(p, shape, cut.cut)

/** The issues of the place that match, as a query that `cut` ends; what it selects is all of `i`. */
function ofIssues(
  p: P,
  shape: Shape,
  { cut, walk }: { cut: RawBuilder<unknown>; walk: Walk },
): RawBuilder<unknown> {
  const where = all(p, shape.conditions, walk)
  if (shape.in === 'project')
    return sql`select i.* from issues i
      where i.project_id = ${p.place} and ${seesIssues(p, shape, sql`0`)} and ${where} ${cut}`
  const caller = sql`with ${mine(p)}`
  // Each project is walked by its own index, and only as far as the page reaches.
  if (shape.in === 'group')
    return sql`${caller}, places as materialized (${places(p, shape)})
      select i.* from places v, lateral (
        select i.* from issues i
         where i.project_id = v.id and ${seesIssues(p, shape, sql`v.role`)} and ${where} ${cut}) i`
  return sql`${caller} select i.* from issues i join projects p on p.id = i.project_id, ${homeOf} n
    where ${where} and ${seesProjects(p, shape)} and ${seesIssues(p, shape, role)} ${cut}`
}

/** All that match, in no order: whole issues, or where links tell them only what those know of issues. */
export function matching(
  p: P,
  shape: Shape,
): { readonly all: RawBuilder<unknown>; readonly linked: boolean } {
  // Of a group each project is looked through by its own index.
  const cut = shape.in === 'group' ? sql`offset 0` : sql``
  const links = byLinks(p, shape, { order: sql`order by i.created_at desc, i.id desc`, cut })
  if (links !== undefined) return { all: links, linked: true }
  const led = shape.in !== 'project' || has(shape, SEARCHES) || has(shape, REACTIONS)
  return { all: ofIssues(p, shape, { cut, walk: led ? 'led' : 'in time' }), linked: false }
}

/** The first that match, as far as a page reaches; where many do. */
export function walked(p: P, shape: ListShape): RawBuilder<unknown> {
  const reach = sql`(${p.limit}::bigint + ${p.offset}::bigint)`
  const order = sql`order by ${orderBy(shape)}`
  const cut = sql`${order} limit ${reach}`
  if (shape.order === 'created_at') {
    const linked = byLinks(p, shape, { order, cut })
    if (linked !== undefined) return linked
  }
  const walk = has(shape, SEARCHES)
    ? 'led'
    : shape.in === 'project' && shape.order === 'created_at' && !has(shape, REACTIONS)
      ? 'in time'
      : 'each'
  const those = (held: RawBuilder<unknown>): RawBuilder<unknown> =>
    ofIssues(p, shape, { cut: sql`and ${held}`, walk })
  const columns = columnsOf(shape.order)
  const turns =
    shape.in === 'project' ? inTurn({ order: shape, place: p.place, reach, columns, those }) : undefined
  return turns ?? ofIssues(p, shape, { cut, walk })
}
