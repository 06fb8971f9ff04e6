import { sql, type RawBuilder } from 'kysely'
import { lasts } from './expiry.ts'
import type { Visibility } from '../db/schema.ts'
import { heldOnProject, isBelow } from './areas.ts'
import type { ProjectListShape, ProjectListValues, ProjectSet } from './project_list_shape.ts'
import { ROLES } from './roles.ts'
import { VISIBILITIES } from './visibilities.ts'
import { and, called } from './walks.ts'
import { isFrequent } from './word_search.ts'

// What can be asked of a project `p` in a list, as conditions.

type Placed = { readonly [Name in 'of_id' | 'of_path' | 'line']: RawBuilder<ProjectListValues[Name]> }
export type P = { readonly [Name in keyof ProjectListValues]: RawBuilder<ProjectListValues[Name]> }
type Raw = RawBuilder<unknown>
export type Shape = ProjectListShape & {
  readonly everything: boolean
  readonly open: readonly Visibility[]
  /** How much the viewer belongs to (unread: to be asked row by row), whether that is the whole place of the list, and whether anything in it is denied. */
  readonly belongs: 'nothing' | 'few' | 'many' | 'unread'
  readonly held: boolean
  readonly denies: boolean
  /** Whether the place holds so few projects that they are all fetched and sorted. */
  readonly small: boolean
  /** How many rows to take from each side. */
  readonly reach: number
}

/** What the list is of; undefined for everywhere. */
export function placeOf(p: Placed, of: Shape['of']): Raw | undefined {
  if (of === 'all') return undefined
  if (of === 'namespace') return sql`p.namespace_id = ${p.of_id}`
  if (of === 'below') return isBelow('p', sql`${p.of_path}::text`)
  return setOf(p, of)
}

export function setOf(p: Placed, of: ProjectSet): Raw {
  switch (of) {
    case 'above':
      return sql`p.namespace_id = any(${p.line}::bigint[])`
    case 'forks':
      return sql`p.forked_from_project_id = ${p.of_id}`
    case 'starred':
      return sql`p.id = any(array(select s.project_id from project_stars s where s.user_id = ${p.of_id}))`
    case 'shared':
      return sql`p.id = any(array(select l.project_id from project_group_links l
        where l.group_id = ${p.of_id} and ${lasts('l')}))`
  }
}

export const shown = ({ visibility }: Shape): Visibility[] =>
  VISIBILITIES.filter((each) => visibility === null || each === visibility)
export const among = (visibilities: readonly Visibility[]): Raw =>
  visibilities.length === VISIBILITIES.length
    ? sql`true`
    : sql`p.visibility = any(${sql.lit(`{${visibilities.join(',')}}`)}::text[])`

const leastOf = (p: P, { role }: Shape): Raw => (role ? p.role : sql.lit(ROLES.guest))
/** Where nothing is denied, what stands below what is held is held: its address says so without a look at its namespace. */
export const holds = (p: P, shape: Shape): Raw =>
  shape.belongs === 'unread' || shape.denies
    ? sql`${heldOnProject} >= ${leastOf(p, shape)}`
    : sql`(p.id = any(${p.single}::bigint[]) or lower(p.full_path) collate "C" ^@ any(array(
        select lower(a.full_path) || '/' from unnest(${p.areas}::text[]) a (full_path))))`

/** What is seen without a look at roles, and what by whom it belongs to alone. */
export function openOf(shape: Shape): Visibility[] {
  if (shape.held) return shown(shape)
  if (shape.role) return []
  return shown(shape).filter((each) => shape.everything || shape.open.includes(each))
}
export function ownOf(shape: Shape): Visibility[] {
  const open = openOf(shape)
  return shape.belongs === 'nothing' ? [] : shown(shape).filter((each) => !open.includes(each))
}
export const sees = (p: P, shape: Shape): Raw => {
  const [open, own] = [openOf(shape), ownOf(shape)]
  return own.length === 0
    ? open.length === 0
      ? sql`false`
      : among(open)
    : sql`((${open.length === 0 ? sql`false` : among(open)}) or ${among(own)} and ${holds(p, shape)})`
}

/** Each filter by a range, with the order whose index knows it. */
const ranges = (p: P, shape: Shape): [Shape['order'], Raw][] => {
  const moments = (column: Shape['order'], after: Raw, before: Raw): [Shape['order'], Raw] => {
    const at = sql.ref(`p.${column}`)
    return [column, sql`${at} > ${after}::timestamptz and ${at} < ${before}::timestamptz`]
  }
  return [
    ...(shape.ids
      ? [['id', sql`p.id > ${p.id_after} and p.id < ${p.id_before}`] satisfies [Shape['order'], Raw]]
      : []),
    ...(shape.active ? [moments('last_activity_at', p.active_after, p.active_before)] : []),
    ...(shape.updated ? [moments('updated_at', p.updated_after, p.updated_before)] : []),
  ]
}
const rangesBy = (p: P, shape: Shape, isKnown: (column: Shape['order']) => boolean): Raw[] =>
  ranges(p, shape).flatMap(([column, range]) => (isKnown(column) ? [range] : []))

/** What the index of an order knows of. */
export const bounds = (p: P, shape: Shape): Raw[] => [
  ...(shape.archived === null ? [] : [shape.archived ? sql`p.archived` : sql`not p.archived`]),
  ...(shape.starred
    ? [sql`p.id = any(array(select s.project_id from project_stars s where s.user_id = ${p.user_id}))`]
    : []),
  ...(shape.imported
    ? [
        sql`p.id = any(array(
          select o.id from projects o join project_imports i on i.project_id = o.id
           where o.creator_id = ${p.user_id} and i.kind = 'url'))`,
      ]
    : []),
  ...rangesBy(p, shape, (column) => column === shape.order),
]

export const filters = (p: P, shape: Shape): Raw[] => [
  ...bounds(p, shape),
  ...shape.uses.map((feature) => sql`not p.settings @> ${sql.lit(`{"${feature}_enabled":false}`)}::jsonb`),
]

const words = (p: P, { search, topic, attributes }: Shape): Raw[] => [
  ...(search === 'whole' ? [called('p', p.search)] : []),
  ...(search === 'part'
    ? [
        sql`(p.name ilike ${p.pattern} or p.description ilike ${p.pattern}
            or (p.full_path ilike ${p.pattern} and (p.path ilike ${p.pattern} or ${p.namespaces})))`,
      ]
    : []),
  ...(topic ? [sql`p.topics @> ${p.topics}::text[]`] : []),
  ...(attributes ? [sql`p.custom_attributes @> ${p.attributes}::jsonb`] : []),
]
const rangesBeside = (p: P, shape: Shape): Raw[] =>
  rangesBy(p, shape, (column) => column !== shape.order).map(
    // The indexes begin with the visibility.
    (range) => sql`p.visibility = any('{private,internal,public}') and ${range}`,
  )

/** What is looked for, in columns with indexes of their own: it may be on everything or on next to nothing. */
export const sought = (p: P, shape: Shape): Raw[] => [...words(p, shape), ...rangesBeside(p, shape)]
export const seeks = ({
  search,
  topic,
  attributes,
  ids,
  active,
  updated,
  order,
}: ProjectListShape): boolean =>
  search !== null ||
  topic ||
  attributes ||
  (ids && order !== 'id') ||
  (active && order !== 'last_activity_at') ||
  (updated && order !== 'updated_at')

/** Whether the likest come first: each kind of likeness has an order of its own. */
export const isAlike = ({ order, search }: Pick<Shape, 'order' | 'search'>): boolean =>
  order === 'similarity' && search !== null

/** Whether a range is walked in its own order: the planner takes one that it does not know for short, and sorts it. */
export const isRanged = ({ ids, active, updated, order }: Shape): boolean =>
  (ids && order === 'id') || (active && order === 'last_activity_at') || (updated && order === 'updated_at')

const MANY = 2_000
/** `frequent`: whether the words are, and many projects are in the ranges. */
export const frequency = (p: P, shape: Shape): Raw => {
  const asked = words(p, shape)
  return sql`frequent as materialized (select ${and([
    ...(asked.length === 0 ? [] : [isFrequent('projects', 'p', and(asked))]),
    ...rangesBeside(p, shape).map(
      (range) => sql`(select count(*) > ${sql.lit(MANY)} from (
        select from projects p where ${range} limit ${sql.lit(MANY + 1)}) m)`,
    ),
  ])} as it)`
}
