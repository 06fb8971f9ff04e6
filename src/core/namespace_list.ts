import { sql, type RawBuilder } from 'kysely'
import type { Db } from '../db/client.ts'
import { COUNTED } from '../db/pages.ts'
import { known, statements } from '../db/statement.ts'
import { meaning } from '../db/text.ts'
import { NOTHING, belongingOf, type Belonging, type Besides } from './areas.ts'
import { placeOf, sought, type P, type Shape } from './namespace_list_filters.ts'
import type { NamespaceListFilters, NamespaceListShape, NamespaceListValues } from './namespace_list_shape.ts'
import {
  counted,
  cutOf,
  found,
  isFound,
  isNamed,
  isSet,
  namespaces,
  sources,
} from './namespace_list_sources.ts'
import { ROLES, openTo, type Viewer } from './roles.ts'
import { VISIBILITIES } from './visibilities.ts'
import { and, chosen, union, whole, type Parts } from './walks.ts'
import { isFrequent } from './word_search.ts'

type Raw = RawBuilder<unknown>

/** A list of groups, or of namespaces. */
export function partsOf(p: P, shape: Shape): Parts {
  const cut = cutOf(p, shape)
  const { order } = cut
  const frequent = isFrequent(
    'namespaces',
    'n',
    and(sought(p, shape)),
    shape.people ? undefined : sql`kind = 'group'`,
  )
  const ids = (reach: number): Raw => chosen(namespaces, sources(p, shape, { ...cut, reach }), order, p)
  return {
    before: isFound(shape)
      ? sql`frequent as materialized (select ${frequent} as it), ${found(p, shape)}`
      : undefined,
    page: ids(shape.reach),
    all: ids(COUNTED),
    rows: (some) => whole(namespaces, some, order),
    order,
    matches: (most) => sql`select from (${union(counted(p, shape, most))}) m`,
  }
}
/** Whether a range is walked in its own order: the planner takes one that it does not know for short, and sorts it. */
export const isRanged = ({ after }: Shape): boolean => after

/** More than these are not fetched and sorted. */
const SORTED = 2_000
const size = statements<Pick<NamespaceListShape, 'of' | 'people'>, NamespaceListFilters, { small: boolean }>(
  (p, place) => sql`
    select count(*) <= ${sql.lit(SORTED)} as small
      from (select from namespaces n where ${and(placeOf(p, place))} limit ${sql.lit(SORTED + 1)}) m`,
)
/** Whether there is no need for a walk. */
async function isSmall(db: Db, shape: NamespaceListShape, filters: NamespaceListFilters): Promise<boolean> {
  const { of, people } = shape
  if (of === 'all' || isSet(shape) || (isNamed(shape) && shape.search === null)) return false
  return (await db.rows(size({ of, people }), filters))[0]?.small === true
}

/** What the viewer belongs to, as far as the scope asks for it. */
async function readBelonging(
  db: Db,
  viewer: Viewer | null,
  { of, scope }: NamespaceListShape,
  { of_id: id, of_path: path, role }: NamespaceListFilters,
): Promise<Belonging> {
  if (viewer === null || scope === 'all') return NOTHING
  const minimal = role <= ROLES.minimal_access ? 'minimal' : 'none'
  const besides: Besides = scope === 'role' ? minimal : scope === 'owned' ? 'owned' : 'line'
  const place = of === 'children' || of === 'below' ? { id, path } : undefined
  const level = scope === 'role' ? Math.max(role, ROLES.guest) : ROLES.guest
  const belonging = await belongingOf(db, viewer.id, level, { place, besides })
  if (scope === 'owned') return { ...belonging, areas: [], roots: [], homes: [], many: false }
  // What stands at the top and is held is topmost among what is held.
  return of === 'top' ? { ...belonging, homes: belonging.roots, many: false } : belonging
}

/** What a list is planned for, and the values that come with it. */
export async function planned<Wanted extends NamespaceListShape>(
  db: Db,
  viewer: Viewer | null,
  shape: Wanted,
  filters: NamespaceListFilters,
): Promise<[Wanted & Shape, NamespaceListValues]> {
  const { areas, roots, homes, besides, many, denies, held_namespaces, held_levels } = await readBelonging(
    db,
    viewer,
    shape,
    filters,
  )
  const small = await isSmall(db, shape, filters)
  const reach = known(filters.limit + filters.offset)
  // A role on a group opens what is below it. Groups that were invited to it, or it to, lie elsewhere.
  const isBelow = shape.of === 'children' || shape.of === 'below'
  const held = shape.scope === 'all' || (isBelow && !denies && roots.includes(filters.of_id))
  const open = held ? VISIBILITIES : shape.scope === 'visible' ? openTo(viewer) : []
  const belongs = many ? 'many' : homes.length + besides.length > 0 ? 'few' : 'nothing'
  const denied = held_namespaces.filter((id, at) => id !== 0 && held_levels[at] === ROLES.no_access)
  return [
    Object.assign({ open, belongs, denies: denied.length > 0, small, reach } as const, shape),
    Object.assign({ areas, roots, homes, besides, denied, pattern: meaning(filters.search) }, filters),
  ]
}
