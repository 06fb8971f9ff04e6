import { sql, type RawBuilder } from 'kysely'
import { isBelow } from './areas.ts'
import {
  among,
  filters,
  holds,
  isAlike,
  isIn,
  kindOf,
  openOf,
  ownOf,
  placeOf,
  sees,
  sought,
  undenied,
  type P,
  type Shape,
} from './namespace_list_filters.ts'
import { and, bySimilarity, sorted, walk, walkSimilar, type Cut, type Likeness, type Rows } from './walks.ts'

// Where the rows of a list of namespaces come from: a few sides, each namespace from one of them.

type Raw = RawBuilder<unknown>

export const namespaces: Rows = { table: 'namespaces', row: 'n' }
function alike(p: P, { of }: Shape): Likeness {
  const top = sql`n.kind = 'group' and n.parent_id is null`
  const inside = sql`n.kind = 'group' and n.parent_id is not null`
  const ranks = of === 'top' ? [top] : of === 'children' || of === 'below' ? [inside] : [top, inside]
  return { ...namespaces, word: p.search, ranks }
}

/** Ties go to the older one, whichever way the order runs. */
export function cutOf(p: P, shape: Shape): Cut {
  const { order, descending, reach } = shape
  if (isAlike(shape))
    return {
      columns: sql`n.id, n.name, n.path, n.kind, n.parent_id`,
      order: bySimilarity(alike(p, shape)),
      reach,
    }
  const direction = descending && order !== 'similarity' ? sql`desc` : sql`asc`
  const column = sql.ref(`n.${order === 'similarity' ? 'name' : order}`)
  return order === 'id'
    ? { columns: sql`n.id`, order: sql`n.id ${direction}`, reach }
    : { columns: sql`n.id, ${column}`, order: sql`${column} ${direction}, n.id`, reach }
}

/** What the caller sees without a look at the few that it belongs to: `wide` alone knows it by index. */
const wide = (shape: Shape): Shape => (shape.belongs === 'few' ? { ...shape, belongs: 'nothing' } : shape)

const frequent = sql`(select it from frequent)`
/** What is looked for and rare, fetched by its own indexes, once for the page and the count. */
export const found = (p: P, shape: Shape): Raw => {
  const called = (kind: 'group' | 'user'): Raw => sql`
    select n.* from namespaces n where n.kind = ${sql.lit(kind)} and not ${frequent} and ${and(sought(p, shape))}`
  const kinds = shape.people ? sql`${called('group')} union all ${called('user')}` : called('group')
  return sql`found as materialized (
    select n.* from (${kinds} offset 0) n
     where ${and([...isIn(p, shape), sees(p, wide(shape)), ...filters(p, shape)])})`
}
/** Sets that are few: they have no order to walk along. */
export const isSet = ({ of, scope }: Pick<Shape, 'of' | 'scope'>): boolean =>
  of === 'sharing' || of === 'invited' || scope === 'owned'
/** Whether rows are walked or `found`. */
export const isFound = (shape: Shape): boolean => shape.search !== null && !shape.small && !isSet(shape)

/** Right below a group, and at the top, the names have an order of their own. */
export const isNamed = ({ of, order, search }: Pick<Shape, 'of' | 'order' | 'search'>): boolean =>
  (of === 'top' || of === 'children') && (order === 'name' || (order === 'similarity' && search === null))
/** Right below a group the ids have one too. */
const isOrdered = (shape: Shape): boolean =>
  isNamed(shape) || (shape.of === 'children' && shape.order === 'id')

/** The names and the ids of one tree are in order by an index too. */
const ofTree = (p: P, shape: Shape): Raw[] => {
  const root = sql`(select top.traversal_ids[1] from namespaces top where top.id = ${p.of_id})`
  return shape.of === 'below' ? [...kindOf(shape), sql`n.traversal_ids[1] = ${root}`] : kindOf(shape)
}

const owned = (p: P): Raw => sql`n.id = any(${p.homes}::bigint[] || ${p.besides}::bigint[])`

/** The few that the caller belongs to, fetched and sorted. */
const own = (p: P, shape: Shape, cut: Cut): Raw =>
  sorted(
    namespaces,
    {
      at: [owned(p)],
      asked: [
        ...isIn(p, shape),
        among(ownOf(shape)),
        ...undenied(p, shape),
        ...sought(p, shape),
        ...filters(p, shape),
        ...behind(p, shape),
      ],
    },
    cut,
  )
const behind = (p: P, { after }: Shape): Raw[] =>
  after ? [sql`(n.name, n.id) > (${p.after_name}, ${p.after_id}::bigint)`] : []

/** What is scattered: what is open, and the caller's own when that is much. */
function wideSources(p: P, shape: Shape, cut: Cut): Raw[] {
  const [open, mine] = [openOf(shape), ownOf(wide(shape))]
  if (open.length + mine.length === 0) return []
  const place = isIn(p, shape)
  const needs = [...sought(p, shape), ...(isFound(shape) ? [frequent] : []), ...filters(p, shape)]
  const from = isFound(shape)
    ? [
        sql`select ${cut.columns} from found n where ${and(behind(p, shape))} order by ${cut.order} limit ${sql.lit(cut.reach)}`,
      ]
    : []
  const seen = sees(p, wide(shape))
  if (isFound(shape) && isAlike(shape))
    return [...from, walkSimilar(alike(p, shape), [...place, seen, ...needs], cut)]
  const along = (at: readonly Raw[], asked: readonly Raw[]): Raw =>
    walk(namespaces, { at: [...at, ...behind(p, shape)], asked: [...asked, ...needs] }, cut)
  if (shape.order === 'id' && shape.people && mine.length > 0) {
    // The homes of other people may stand before the first group.
    const homes = sql`n.id = any(${p.roots}::bigint[]) and n.kind = 'user'`
    const asked = [...place, seen, ...needs]
    const [group, home] = [sql`n.kind = 'group'`, sorted(namespaces, { at: [homes], asked }, cut)]
    return [...from, along([group], [...place, seen]), home]
  }
  if (isOrdered(shape)) return [...from, along(place, [seen])]
  if (shape.order === 'id' || (shape.of === 'below' && shape.order === 'name'))
    return [...from, along(ofTree(p, shape), [...place, seen])]
  const walks = [...open, ...mine].map((each) =>
    along(
      [sql`n.kind = 'group'`, sql`n.visibility = ${sql.lit(each)}`],
      [...place, ...(open.includes(each) ? [] : [holds(p, shape)])],
    ),
  )
  return [...from, ...walks]
}

export function sources(p: P, shape: Shape, cut: Cut): Raw[] {
  const few = shape.belongs === 'few' && ownOf(shape).length > 0
  if (shape.scope === 'owned') return few ? [own(p, shape, cut)] : none(cut)
  if (isSet(shape) || shape.small) {
    const asked = [sees(p, shape), ...sought(p, shape), ...filters(p, shape), ...behind(p, shape)]
    return [sorted(namespaces, { at: placeOf(p, shape), asked }, cut)]
  }
  const all = [...wideSources(p, shape, cut), ...(few ? [own(p, shape, cut)] : [])]
  return all.length === 0 ? none(cut) : all
}
const none = ({ columns }: Cut): Raw[] => [sql`select ${columns} from namespaces n where false`]

/** The same namespaces in no order, to be counted: of a part that is cut, `most`. */
export function counted(p: P, shape: Shape, most: number): Raw[] {
  const cut = { columns: sql`n.id`, order: sql`n.id`, reach: most }
  if (isSet(shape) || shape.small) return sources(p, shape, cut)
  const all = [
    ...(isFound(shape) ? [sql`select n.id from found n`] : []),
    ...(openOf(shape).length === 0 ? [] : [countOpen(p, shape)]),
    ...(ownOf(shape).length === 0 ? [] : countOwn(p, shape, cut)),
  ]
  return all.length === 0 ? none(cut) : all
}

function countOpen(p: P, shape: Shape): Raw {
  const rows = sql`namespaces n where ${and([...placeOf(p, shape), among(openOf(shape)), ...filters(p, shape)])}`
  return isFound(shape)
    ? sql`select n.id from (select n.* from ${rows} offset 0) n where ${frequent} and ${and(sought(p, shape))}`
    : sql`select n.id from ${rows}`
}

/** Much is a few ranges of addresses; each is fenced, or all that is called so would be fetched. */
function countOwn(p: P, shape: Shape, cut: Cut): Raw[] {
  if (shape.belongs === 'few') return [own(p, shape, cut)]
  const asked = [...(isFound(shape) ? [frequent] : []), ...undenied(p, shape), ...sought(p, shape)]
  if (shape.of === 'children')
    return [
      sql`select n.id from (select n.* from namespaces n where ${and(placeOf(p, shape))} offset 0) n
           where ${and([among(ownOf(shape)), holds(p, shape), ...asked, ...filters(p, shape)])}`,
    ]
  const rows = [...placeOf(p, shape), among(ownOf(shape)), ...filters(p, shape)]
  const roots = sql`select n.id from namespaces n
    where n.id = any(${p.roots}::bigint[]) and ${and([...rows, ...asked])}`
  return [
    roots,
    sql`select n.id from unnest(${p.areas}::text[]) a (full_path), lateral (
      select n.id from (select n.* from namespaces n
                         where n.kind = 'group' and ${isBelow('n', sql`a.full_path`)} and ${and(rows)} offset 0) n
       where ${and(asked)} limit ${sql.lit(cut.reach)}) n`,
    sql`select n.id from namespaces n where n.id = any(${p.besides}::bigint[])
      and not n.traversal_ids && ${p.roots}::bigint[] and ${and([...rows, ...asked])}`,
  ]
}
