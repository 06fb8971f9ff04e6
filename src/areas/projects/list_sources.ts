import { sql, type RawBuilder } from 'kysely'
import { heldOnProject, isBelow } from '../../core/areas.ts'
import { ROLES } from '../../core/roles.ts'
import type { Visibility } from '../../db/schema.ts'
import { and, bounds, filters, sought, type P, type Shape } from './list_filters.ts'

type Raw = RawBuilder<unknown>

const VISIBILITIES: readonly Visibility[] = ['private', 'internal', 'public']
const name = sql`lower(p.name) collate "C"`
const path = sql`lower(p.path) collate "C"`
/** A walk along an index: no letter comes after the last one. */
const begins = (column: Raw, word: Raw): Raw =>
  sql`(${column} >= lower(${word}) and ${column} < lower(${word}) || chr(1114111))`
const called = (p: P): Raw => sql`(${path} = lower(${p.search}) or ${name} = lower(${p.search}))`

/** What is called so, what begins so, whose path begins so, and the rest. */
const similarity = (p: P): Raw => sql`
  case when ${called(p)} then 0 when ${begins(name, p.search)} then 1 when ${begins(path, p.search)} then 2 else 3 end,
  (case when not ${called(p)} and not ${begins(name, p.search)} and ${begins(path, p.search)} then ${path} else ${name} end),
  p.id`

export function orderOf(p: P, { order, descending, search }: Shape): Raw {
  if (order === 'similarity') return search ? similarity(p) : sql`p.name, p.id`
  const direction = descending ? sql`desc` : sql`asc`
  return order === 'id'
    ? sql`p.id ${direction}`
    : sql`${sql.ref(`p.${order}`)} ${direction}, p.id ${direction}`
}

const among = (visibilities: readonly Visibility[]): Raw =>
  sql`p.visibility = any(${sql.lit(`{${visibilities.join(',')}}`)}::text[])`
const shown = ({ visibility }: Shape): Visibility[] =>
  VISIBILITIES.filter((each) => visibility === null || each === visibility)
const isOpen = (shape: Shape) => (each: Visibility) => shape.everything || shape.open.includes(each)
export const levelOf = (p: P, shape: Shape): Raw => (shape.role ? p.role : sql.lit(ROLES.guest))

const undenied = (p: P, shape: Shape): Raw =>
  shape.denies ? sql`${heldOnProject} >= ${levelOf(p, shape)}` : sql`true`
const holds = (p: P, shape: Shape): Raw => sql`${heldOnProject} >= ${levelOf(p, shape)}`

interface Cut {
  readonly order: Raw
  readonly reach: number
}
/**
 * Rows in an order, as far as the page reaches. Fenced: what else is asked of them is looked at row by row, for the planner
 * takes it for rarer than it is, and would fetch and sort everything.
 */
const walk = (
  p: P,
  shape: Shape,
  { at, asked }: { readonly at: Raw; readonly asked: readonly Raw[] },
  cut: Cut,
): Raw => sql`
  select p.* from (select p.* from projects p where ${and([at, ...bounds(p, shape, shape.order)])}
                    order by ${cut.order} offset 0) p where ${and(asked)} limit ${sql.lit(cut.reach)}`
const cutBy = ({ order, reach }: Cut): Raw => sql`order by ${order} limit ${sql.lit(reach)}`

const SAMPLE = 150
/** `frequent`: whether every fifth of the oldest and the newest projects is what is sought. */
export const frequency = (p: P, shape: Shape): Raw => {
  const some = (direction: Raw): Raw =>
    sql`(select p.* from projects p order by p.id ${direction} limit ${sql.lit(SAMPLE)})`
  return sql`frequent as materialized (
    select count(*) * 5 >= ${sql.lit(2 * SAMPLE)} as it
      from (${some(sql`asc`)} union all ${some(sql`desc`)}) p where ${and(sought(p, shape))})`
}
const frequent = sql`(select it from frequent)`

/** What is frequent is met on a walk in the order; what is rare is fetched by its own index and sorted. */
function walkedOrFetched(p: P, shape: Shape, sees: Raw, cut: Cut): Raw {
  const rest = and([sees, ...filters(p, shape)])
  const walks = shown(shape).map(
    (each) =>
      sql`(${walk(p, shape, { at: sql`p.visibility = ${sql.lit(each)}`, asked: [frequent, ...sought(p, shape), rest] }, cut)})`,
  )
  return sql`select * from (${sql.join(walks, sql` union all `)} union all
    (select p.* from (select p.* from projects p where ${and(sought(p, shape))} offset 0) p
      where not ${frequent} and ${rest} ${cutBy(cut)})) p`
}

/** Each kind of likeness in its own order, and only where those before it did not fill the page. */
function bySimilarity(p: P, shape: Shape, sees: Raw, { reach }: Cut): Raw {
  const rest = and([sees, ...sought(p, shape), ...filters(p, shape)])
  const room = (before: string): Raw =>
    sql`(select count(*) from ${sql.ref(before)}) < ${sql.lit(reach)} and ${rest}`
  const cut = (column: Raw): Raw => sql`order by ${column}, p.id limit ${sql.lit(reach)}`
  // The walk is fenced, or the planner would rather fetch and sort all that begins so.
  const walk = (column: Raw): Raw =>
    sql`(select p.* from projects p where ${begins(column, p.search)} order by ${column}, p.id offset 0) p`
  const unnamed = sql`not ${called(p)} and not ${begins(name, p.search)}`
  return sql`select p.* from (
    with called as materialized (
      select p.* from projects p where p.id = any(array(
          select p.id from projects p where ${name} = lower(${p.search})
          union select p.id from projects p where ${path} = lower(${p.search}))) and ${rest} ${cut(name)}),
    named as materialized (
      select * from called union all (
      select p.* from ${walk(name)} where not ${called(p)} and ${room('called')} limit ${sql.lit(reach)})),
    placed as materialized (
      select * from named union all (
      select p.* from ${walk(path)} where ${unnamed} and ${room('named')} limit ${sql.lit(reach)}))
    select * from placed union all (
    select p.* from (select p.* from projects p where ${and(sought(p, shape))} offset 0) p
     where ${unnamed} and not ${begins(path, p.search)} and ${room('placed')} ${cut(name)})) p`
}

export const seeks = ({ search, topic, order }: Shape): boolean =>
  search === 'long' || topic || (search !== null && order === 'similarity')

/** The namespaces that the caller belongs to, each in order by an index and only as far as the page reaches. */
function homeSources(p: P, shape: Shape, only: readonly Visibility[], cut: Cut): Raw[] {
  const rest = [undenied(p, shape), among(only), ...sought(p, shape), ...filters(p, shape)]
  return [
    sql`select p.* from unnest(${p.homes}::bigint[]) h (id), lateral (
          ${walk(p, shape, { at: sql`p.namespace_id = h.id`, asked: rest }, cut)}) p`,
    sql`select p.* from projects p where p.id = any(${p.single}::bigint[]) and ${and(rest)} ${cutBy(cut)}`,
  ]
}

/** Pages of what is scattered: what is open, and the caller's own when that is much. */
function wideSources(p: P, shape: Shape, cut: Cut): Raw[] {
  const [open, own] = [openOf(shape), shape.belongs === 'many' ? ownOf(shape) : []]
  if (open.length + own.length === 0) return []
  if (seeks(shape)) {
    const sides = [
      ...(open.length === 0 ? [] : [among(open)]),
      ...(own.length === 0 ? [] : [sql`(${among(own)} and ${holds(p, shape)})`]),
    ]
    const by = shape.order === 'similarity' && shape.search !== null ? bySimilarity : walkedOrFetched
    return [by(p, shape, sql`(${sql.join(sides, sql` or `)})`, cut)]
  }
  return [...open, ...own].map((each) => {
    const needs = open.includes(each) ? [] : [holds(p, shape)]
    const asked = [...needs, ...sought(p, shape), ...filters(p, shape)]
    return walk(p, shape, { at: sql`p.visibility = ${sql.lit(each)}`, asked }, cut)
  })
}

/** The projects in question from a few sides, each project from one of them. */
export function sources(p: P, shape: Shape, cut: Cut): Raw[] {
  const within = narrow(p, shape)
  if (within !== undefined) {
    const role = holds(p, shape)
    const sees = shape.role
      ? role
      : shape.everything
        ? sql`true`
        : sql`(p.visibility = any(${p.open_to}) or ${role})`
    const where = and([within, sees, among(shown(shape)), ...sought(p, shape), ...filters(p, shape)])
    return [sql`select p.* from projects p where ${where} ${cutBy(cut)}`]
  }
  const own = shape.belongs === 'few' ? ownOf(shape) : []
  const all = [...wideSources(p, shape, cut), ...(own.length === 0 ? [] : homeSources(p, shape, own, cut))]
  return all.length === 0 ? [sql`select p.* from projects p where false`] : all
}

/** What is seen without a role, and what by whom it belongs to alone. */
const openOf = (shape: Shape): Visibility[] =>
  shape.of === 'member' ? [] : shown(shape).filter(isOpen(shape))
const ownOf = (shape: Shape): Visibility[] => {
  if (shape.belongs === 'nothing') return []
  return shown(shape).filter((each) => shape.of === 'member' || !isOpen(shape)(each))
}

/** Lists of a namespace, of stars and of forks have an index of their own. */
function narrow(p: P, { of }: Shape): Raw | undefined {
  if (of === 'namespace') return sql`p.namespace_id = ${p.of_id}`
  if (of === 'forks') return sql`p.forked_from_project_id = ${p.of_id}`
  if (of === 'starred')
    return sql`p.id = any(array(select s.project_id from project_stars s where s.user_id = ${p.of_id}))`
  return undefined
}

/** The same projects uncut and in no order, to be counted: what the caller belongs to by its ranges of addresses. */
export function counted(p: P, shape: Shape): Raw[] {
  if (narrow(p, shape) !== undefined) return sources(p, shape, { order: sql`p.id`, reach: 10_001 })
  const [open, own] = [openOf(shape), ownOf(shape)]
  const seen = [among(open), ...filters(p, shape)]
  const words = sought(p, shape)
  const mine = and([among(own), undenied(p, shape), ...words, ...filters(p, shape)])
  const walked = sql`select p.id from (select p.* from projects p where ${and(seen)} offset 0) p`
  return [
    ...(seeks(shape)
      ? [
          sql`${walked} where ${frequent} and ${and(words)}`,
          sql`select p.id from (select p.* from projects p where ${and(words)} offset 0) p
               where not ${frequent} and ${and(seen)}`,
        ]
      : words.length > 0
        ? [sql`${walked} where ${and(words)}`]
        : [sql`select p.id from projects p where ${and(seen)}`]),
    ...(own.length === 0
      ? []
      : [
          sql`select p.id from unnest(${p.areas}::text[]) a (full_path), lateral (
            select p.id from projects p where ${isBelow('p', sql`a.full_path`)} and ${mine} limit 10001) p`,
          sql`select p.id from projects p where p.id = any(${p.single}::bigint[]) and ${mine}`,
        ]),
  ]
}
