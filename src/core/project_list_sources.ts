import { sql, type RawBuilder } from 'kysely'
import type { Visibility } from '../db/schema.ts'
import { isBelow } from './areas.ts'
import {
  among,
  bounds,
  filters,
  holds,
  isAlike,
  openOf,
  ownOf,
  placeOf,
  seeks,
  sees,
  setOf,
  sought,
  type P,
  type Shape,
} from './project_list_filters.ts'
import type { ProjectListShape } from './project_list_shape.ts'
import {
  and,
  bySimilarity,
  sorted,
  walk,
  walkSimilar,
  type Cut,
  type Likeness,
  type Rows,
  type Wanted,
} from './walks.ts'

// Where the rows of a list of projects come from: a few sides, each project from one of them.

type Raw = RawBuilder<unknown>

export const projects: Rows = { table: 'projects', row: 'p' }
const alike = (p: P): Likeness => ({ ...projects, word: p.search, ranks: [sql`true`] })

export function cutOf(p: P, shape: Shape): Cut {
  const { order, descending, reach } = shape
  if (isAlike(shape)) return { columns: sql`p.id, p.name, p.path`, order: bySimilarity(alike(p)), reach }
  const direction = descending && order !== 'similarity' ? sql`desc` : sql`asc`
  const column = sql.ref(`p.${order === 'similarity' ? 'name' : order}`)
  return order === 'id'
    ? { columns: sql`p.id`, order: sql`p.id ${direction}`, reach }
    : { columns: sql`p.id, ${column}`, order: sql`${column} ${direction}, p.id ${direction}`, reach }
}

/** A walk along what the index of an order knows of. */
const along = (p: P, shape: Shape, { at, asked }: Wanted, cut: Cut): Raw =>
  walk(projects, { at: [...at, ...bounds(p, shape)], asked }, cut)

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

/** The indexes of all orders begin with it, those of one namespace behind that. */
const isShownTo = (visibility: Visibility): Raw => sql`p.visibility = ${sql.lit(visibility)}`

/** The namespaces that the caller belongs to, each in order by an index and only as far as the page reaches. */
function homeSources(p: P, shape: Shape, cut: Cut): Raw[] {
  const undenied = shape.denies ? [holds(p, shape)] : []
  const own = ownOf(shape)
  const rest = [...within(p, shape), ...undenied, ...sought(p, shape), ...filters(p, shape)]
  return [
    ...own.map(
      (each) => sql`select p.* from unnest(${p.homes}::bigint[]) h (id), lateral (
          ${along(p, shape, { at: [sql`p.namespace_id = h.id`, isShownTo(each)], asked: rest }, cut)}) p`,
    ),
    sorted(projects, { at: [sql`p.id = any(${p.single}::bigint[])`], asked: [among(own), ...rest] }, cut),
  ]
}

/** Pages of what is scattered: what is open, and the caller's own when that is much. */
function wideSources(p: P, shape: Shape, cut: Cut): Raw[] {
  const [open, own] = [openOf(wide(shape)), ownOf(wide(shape))]
  if (open.length + own.length === 0) return []
  const needs = [...sought(p, shape), ...(isFound(shape) ? [frequent] : [])]
  const from = isFound(shape)
    ? [sql`select ${cut.columns} from found p order by ${cut.order} limit ${sql.lit(cut.reach)}`]
    : []
  if (isFound(shape) && isAlike(shape)) {
    const rest = [...needs, ...within(p, shape), sees(p, wide(shape)), ...filters(p, shape)]
    return [...from, walkSimilar(alike(p), rest, cut)]
  }
  const [at, beside] = shape.of === 'namespace' ? [within(p, shape), []] : [[], within(p, shape)]
  const walks = [...open, ...own].map((each) => {
    const held = open.includes(each) ? [] : [holds(p, shape)]
    const asked = [...beside, ...needs, ...held, ...filters(p, shape)]
    return along(p, shape, { at: [...at, isShownTo(each)], asked }, cut)
  })
  return [...from, ...walks]
}

/** Of one namespace each kind is a range of its own; the planner would rather read them all. */
const few = (p: P, shape: Shape, seen: readonly Raw[], cut: Cut): Raw[] => {
  const kinds = [...openOf(shape), ...ownOf(shape)]
  const ranges = shape.of === 'namespace' ? kinds.map(isShownTo) : [among(kinds)]
  const asked = [...seen, ...sought(p, shape), ...filters(p, shape)]
  return ranges.map((range) => sorted(projects, { at: [...within(p, shape), range], asked }, cut))
}

/** A set may lie anywhere: what the caller holds is looked up project by project. */
function ofSet(p: P, inPlace: Shape, cut: Cut, others: readonly Raw[] = []): Raw[] {
  const shape: Shape = { ...inPlace, belongs: 'unread', held: false }
  const held = holds(p, shape)
  const seen = shape.role
    ? [held]
    : shape.everything
      ? []
      : [sql`(p.visibility = any(${p.open_to}) or ${held})`]
  return few(p, shape, [...seen, ...others.map((other) => sql`not (${other})`)], cut)
}
/** Each set without what stands in the place, and in the sets before it. */
const besides = (p: P, shape: Shape, cut: Cut): Raw[] =>
  shape.also.flatMap((of, index) => {
    const others = [...within(p, shape), ...shape.also.slice(0, index).map((each) => setOf(p, each))]
    return ofSet(p, { ...shape, of }, cut, others)
  })

function sides(p: P, shape: Shape, cut: Cut): Raw[] {
  if (isSet(shape)) return ofSet(p, shape, cut)
  if (shape.small) return few(p, shape, [sees(p, shape)], cut)
  const own = shape.belongs === 'few' && ownOf(shape).length > 0
  return [...wideSources(p, shape, cut), ...(own ? homeSources(p, shape, cut) : [])]
}
export function sources(p: P, shape: Shape, cut: Cut): Raw[] {
  const all = [...sides(p, shape, cut), ...besides(p, shape, cut)]
  return all.length === 0 ? [sql`select ${cut.columns} from projects p where false`] : all
}

/** The same projects in no order, to be counted: of a part that is cut, `most`. */
export function counted(p: P, shape: Shape, most: number): Raw[] {
  const cut = { columns: sql`p.id`, order: sql`p.id`, reach: most }
  if (isSet(shape) || shape.small) return sources(p, shape, cut)
  const all = [
    ...(isFound(shape) ? [sql`select p.id from found p`] : []),
    ...(openOf(shape).length === 0 ? [] : [countOpen(p, shape)]),
    ...(ownOf(shape).length === 0 ? [] : countOwn(p, shape, most)),
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
function countOwn(p: P, shape: Shape, most: number): Raw[] {
  const asked = and([
    ...(isFound(shape) && shape.belongs === 'many' ? [frequent] : []),
    ...(shape.denies ? [holds(p, shape)] : []),
    ...sought(p, shape),
  ])
  const mine = and([among(ownOf(shape)), ...within(p, shape), ...filters(p, shape)])
  return [
    sql`select p.id from unnest(${p.areas}::text[]) a (full_path), lateral (
      select p.id from (select p.* from projects p where ${isBelow('p', sql`a.full_path`)} and ${mine} offset 0) p
       where ${asked} limit ${sql.lit(most)}) p`,
    sql`select p.id from projects p where p.id = any(${p.single}::bigint[]) and ${mine} and ${asked}`,
  ]
}
