import { sql, type RawBuilder } from 'kysely'
import { isBelow } from './areas.ts'
import {
  among,
  and,
  bounds,
  called,
  filters,
  holds,
  name,
  openOf,
  ownOf,
  path,
  placeOf,
  seeks,
  sees,
  setOf,
  shown,
  sought,
  type P,
  type Shape,
} from './project_list_filters.ts'
import type { ProjectListShape, ProjectSet } from './project_list_shape.ts'

// Where the rows of a list of projects come from: a few sides, each project from one of them.

type Raw = RawBuilder<unknown>

/** A walk along an index: no letter comes after the last one. */
const begins = (column: Raw, word: Raw): Raw =>
  sql`(${column} >= lower(${word}) and ${column} < lower(${word}) || chr(1114111))`

/** What is called so, what begins so, whose path begins so, and the rest. */
const similarity = (p: P): Raw => sql`
  case when ${called(p)} then 0 when ${begins(name, p.search)} then 1 when ${begins(path, p.search)} then 2 else 3 end,
  (case when not ${called(p)} and not ${begins(name, p.search)} and ${begins(path, p.search)} then ${path} else ${name} end),
  p.id`

export function orderOf(p: P, { order, descending, search }: Shape): Raw {
  if (order === 'similarity') return search !== null ? similarity(p) : sql`p.name, p.id`
  const direction = descending ? sql`desc` : sql`asc`
  return order === 'id'
    ? sql`p.id ${direction}`
    : sql`${sql.ref(`p.${order}`)} ${direction}, p.id ${direction}`
}

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
  select p.* from (select p.* from projects p where ${and([at, ...bounds(p, shape)])}
                    order by ${cut.order} offset 0) p where ${and(asked)} limit ${sql.lit(cut.reach)}`
const cutBy = ({ order, reach }: Cut): Raw => sql`order by ${order} limit ${sql.lit(reach)}`

const within = (p: P, shape: Shape): Raw[] => {
  const place = placeOf(p, shape.of)
  return place === undefined ? [] : [place]
}
export const isSet = ({ of }: ProjectListShape): boolean =>
  of !== 'all' && of !== 'namespace' && of !== 'below'

/** What the caller sees without a look at few homes: `wide` alone knows it by index. */
const wide = (shape: Shape): Shape => (shape.belongs === 'few' ? { ...shape, belongs: 'nothing' } : shape)

const frequent = sql`(select it from frequent)`
/** What is looked for and rare, fetched by its own index, once for the page and the count. */
export const found = (p: P, shape: Shape): Raw => sql`found as materialized (
  select p.* from (select p.* from projects p where not ${frequent} and ${and(sought(p, shape))} offset 0) p
   where ${and([...within(p, shape), sees(p, wide(shape)), ...filters(p, shape)])})`
/** Whether rows are walked or `found`. */
export const isFound = (shape: Shape): boolean => seeks(shape) && !shape.small && !isSet(shape)

/** Each kind of likeness in its own order, and only where those before it did not fill the page. */
function bySimilarity(p: P, rest: Raw, { reach }: Cut): Raw {
  const cut = sql`limit ${sql.lit(reach)}`
  const room = (before: string): Raw =>
    sql`(select count(*) from ${sql.ref(before)}) < ${sql.lit(reach)} and ${rest}`
  const along = (column: Raw, where: Raw): Raw =>
    sql`(select p.* from projects p where ${where} order by ${column}, p.id offset 0) p`
  const unnamed = sql`not ${called(p)} and not ${begins(name, p.search)}`
  return sql`select p.* from (
    with called as materialized (
      select p.* from projects p where p.id = any(array(
          select p.id from projects p where ${name} = lower(${p.search})
          union select p.id from projects p where ${path} = lower(${p.search}))) and ${rest} order by ${name}, p.id ${cut}),
    named as materialized (
      select * from called union all (
      select p.* from ${along(name, begins(name, p.search))} where not ${called(p)} and ${room('called')} ${cut})),
    placed as materialized (
      select * from named union all (
      select p.* from ${along(path, begins(path, p.search))} where ${unnamed} and ${room('named')} ${cut}))
    select * from placed union all (
    select p.* from ${along(name, sql`true`)}
     where ${unnamed} and not ${begins(path, p.search)} and ${room('placed')} ${cut})) p`
}

/** The namespaces that the caller belongs to, each in order by an index and only as far as the page reaches. */
function homeSources(p: P, shape: Shape, cut: Cut): Raw[] {
  const undenied = shape.denies ? [holds(p, shape)] : []
  const rest = [
    ...within(p, shape),
    among(ownOf(shape)),
    ...undenied,
    ...sought(p, shape),
    ...filters(p, shape),
  ]
  return [
    sql`select p.* from unnest(${p.homes}::bigint[]) h (id), lateral (
          ${walk(p, shape, { at: sql`p.namespace_id = h.id`, asked: rest }, cut)}) p`,
    sql`select p.* from projects p where p.id = any(${p.single}::bigint[]) and ${and(rest)} ${cutBy(cut)}`,
  ]
}

/** Pages of what is scattered: what is open, and the caller's own when that is much. */
function wideSources(p: P, shape: Shape, cut: Cut): Raw[] {
  const [open, own] = [openOf(wide(shape)), ownOf(wide(shape))]
  if (open.length + own.length === 0) return []
  const needs = [...sought(p, shape), ...(isFound(shape) ? [frequent] : [])]
  const from = isFound(shape) ? [sql`select p.* from found p ${cutBy(cut)}`] : []
  if (isFound(shape) && shape.search !== null && shape.order === 'similarity') {
    const rest = [...needs, ...within(p, shape), sees(p, wide(shape)), ...filters(p, shape)]
    return [...from, bySimilarity(p, and(rest), cut)]
  }
  if (shape.of === 'namespace') {
    const asked = [sees(p, wide(shape)), ...needs, ...filters(p, shape)]
    return [...from, walk(p, shape, { at: and(within(p, shape)), asked }, cut)]
  }
  const walks = [...open, ...own].map((each) => {
    const held = open.includes(each) ? [] : [holds(p, shape)]
    const asked = [...within(p, shape), ...needs, ...held, ...filters(p, shape)]
    return walk(p, shape, { at: sql`p.visibility = ${sql.lit(each)}`, asked }, cut)
  })
  return [...from, ...walks]
}

/** A few projects, fetched and sorted. */
const sorted = (p: P, shape: Shape, seen: Raw, cut: Cut): Raw => sql`
  select p.* from (select p.* from projects p where ${and(within(p, shape))} offset 0) p
   where ${and([among(shown(shape)), seen, ...sought(p, shape), ...filters(p, shape)])} ${cutBy(cut)}`

/** A set may lie anywhere: what the caller holds is looked up project by project. */
const inSet = (p: P, shape: Shape, of: ProjectSet): [Shape, Raw] => [
  { ...shape, of },
  shape.everything && !shape.role
    ? sql`true`
    : shape.role
      ? holds(p, shape)
      : sql`(p.visibility = any(${p.open_to}) or ${holds(p, shape)})`,
]
/** Each set without what stands in the place, and in the sets before it. */
const besides = (p: P, shape: Shape, cut: Cut): Raw[] =>
  shape.also.map((of, index) => {
    const [set, seen] = inSet(p, shape, of)
    const others = [...within(p, shape), ...shape.also.slice(0, index).map((each) => setOf(p, each))]
    return sorted(p, set, and([seen, ...others.map((other) => sql`not (${other})`)]), cut)
  })

export function sources(p: P, shape: Shape, cut: Cut): Raw[] {
  const more = besides(p, shape, cut)
  if (shape.of !== 'all' && shape.of !== 'namespace' && shape.of !== 'below')
    return [sorted(p, ...inSet(p, shape, shape.of), cut), ...more]
  if (shape.small) return [sorted(p, shape, sees(p, shape), cut), ...more]
  const own = shape.belongs === 'few' && ownOf(shape).length > 0
  const all = [...wideSources(p, shape, cut), ...(own ? homeSources(p, shape, cut) : []), ...more]
  return all.length === 0 ? [sql`select p.* from projects p where false`] : all
}

/** The same projects uncut and in no order, to be counted. */
export function counted(p: P, shape: Shape): Raw[] {
  const cut = { order: sql`p.id`, reach: 10_001 }
  if (isSet(shape) || shape.small) return sources(p, shape, cut)
  const all = [
    ...(isFound(shape) ? [sql`select p.id from found p`] : []),
    ...(openOf(shape).length === 0 ? [] : [countOpen(p, shape)]),
    ...(ownOf(shape).length === 0 ? [] : countOwn(p, shape)),
    ...besides(p, shape, cut),
  ]
  return all.length === 0 ? [sql`select p.id from projects p where false`] : all
}

function countOpen(p: P, shape: Shape): Raw {
  const rows = sql`projects p where ${and([among(openOf(shape)), ...within(p, shape), ...filters(p, shape)])}`
  return isFound(shape)
    ? sql`select p.id from (select p.* from ${rows} offset 0) p where ${frequent} and ${and(sought(p, shape))}`
    : sql`select p.id from ${rows}`
}

/** What the caller belongs to is a few ranges of addresses; each is fenced, or all that is called so would be fetched. */
function countOwn(p: P, shape: Shape): Raw[] {
  const asked = and([
    ...(isFound(shape) && shape.belongs === 'many' ? [frequent] : []),
    ...(shape.denies ? [holds(p, shape)] : []),
    ...sought(p, shape),
  ])
  const mine = and([among(ownOf(shape)), ...within(p, shape), ...filters(p, shape)])
  return [
    sql`select p.id from unnest(${p.areas}::text[]) a (full_path), lateral (
      select p.id from (select p.* from projects p where ${isBelow('p', sql`a.full_path`)} and ${mine} offset 0) p
       where ${asked} limit 10001) p`,
    sql`select p.id from projects p where p.id = any(${p.single}::bigint[]) and ${mine} and ${asked}`,
  ]
}
