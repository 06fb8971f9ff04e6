import { sql, type RawBuilder } from 'kysely'
import type { Db } from '../db/client.ts'
import type { Visibility } from '../db/schema.ts'
import { COUNTED } from '../db/pages.ts'
import { known, statement, statements, type Slots } from '../db/statement.ts'
import { containing } from '../db/text.ts'
import { NOTHING, belongingOf, mineFrom, type Belonging } from './areas.ts'
import {
  among,
  frequency,
  isAlike,
  openOf,
  ownOf,
  placeOf,
  seeks,
  type P,
  type Shape,
} from './project_list_filters.ts'
import type { ProjectListFilters, ProjectListShape, ProjectListValues } from './project_list_shape.ts'
import { counted, cutOf, found, isFound, isSet, projects, sources } from './project_list_sources.ts'
import { ROLES, openTo, type Viewer } from './roles.ts'
import { mine } from './sight.ts'
import { VISIBILITIES } from './visibilities.ts'
import { chosen, union, whole, type Parts } from './walks.ts'

type Raw = RawBuilder<unknown>

/** A list of projects. Its parts read `mine`, the grants of the viewer. */
export function partsOf(p: P, shape: Shape): Parts {
  const cut = cutOf(p, shape)
  const { order } = cut
  const grants = shape.belongs === 'unread' ? mine(p) : mineFrom(p)
  const ids = (reach: number): Raw => chosen(projects, sources(p, shape, { ...cut, reach }), order, p)
  return {
    before: isFound(shape) ? sql`${grants}, ${frequency(p, shape)}, ${found(p, shape)}` : grants,
    beside: grants,
    page: ids(shape.reach),
    all: ids(COUNTED),
    rows: (some) => whole(projects, some, order),
    order,
    matches: (most) =>
      sql`select from (${union(counted(p, shape, most).map((each) => sql`select m.id from (${each}) m`))}) m`,
  }
}

/** More projects than these are not fetched and sorted. */
const SORTED = 2_000
const size = statements<
  Pick<ProjectListShape, 'of'> & { among: readonly Visibility[] },
  ProjectListFilters,
  { small: boolean }
>(
  (p, { of, among: seen }) => sql`
    select count(*) <= ${sql.lit(SORTED)} as small
      from (select from projects p
             where ${placeOf(p, of) ?? sql`true`} and ${among(seen)} limit ${sql.lit(SORTED + 1)}) m`,
)

/**
 * Whether there is no need for a walk. Right in a namespace every order has its index, but how alike something is to a word
 * none of them knows: who is shown little of it would walk far.
 */
async function isSmall(db: Db, shape: Shape, filters: ProjectListFilters): Promise<boolean> {
  const { of } = shape
  if (of !== 'below' && !(of === 'namespace' && seeks(shape))) return false
  const isOpen = isAlike(shape) || ownOf(shape).length === 0
  const seen = of === 'namespace' && isOpen ? openOf(shape) : VISIBILITIES
  return (await db.rows(size({ of, among: seen }), filters))[0]?.small === true
}

const crowded = statement(
  (p: Slots<Pick<Belonging, 'homes'>>) => sql<{ it: boolean }>`
    select count(*) > ${sql.lit(SORTED)} as it
      from (select from projects p where p.namespace_id = any(${p.homes}::bigint[]) limit ${sql.lit(SORTED + 1)}) m`,
)

type Reading = Belonging & Pick<Shape, 'belongs' | 'held'>

/** What the viewer belongs to, as far as it stands in the place of the list: of little, all is asked row by row. */
async function readBelonging(
  db: Db,
  viewer: Viewer | null,
  shape: ProjectListShape,
  filters: ProjectListFilters,
): Promise<Reading> {
  const { of, role } = shape
  if (viewer === null) return { ...NOTHING, belongs: 'nothing', held: false }
  const sees = viewer.admin && !role
  if (sees || isSet(shape) || (of === 'namespace' && shape.uncounted))
    return { ...NOTHING, belongs: 'unread', held: false }
  const { of_id: id, of_path: path } = filters
  const place = of === 'all' ? undefined : { id, path }
  const belonging = await belongingOf(db, viewer.id, role ? filters.role : ROLES.guest, { place })
  const all = place !== undefined && belonging.areas.includes(path)
  const { areas, homes, single, many, denies } =
    of !== 'namespace'
      ? belonging
      : { ...belonging, many: false, areas: all ? [path] : [], homes: all ? [id] : [] }
  // What is looked for in few homes is looked for in each of their projects: those may be many.
  const isCrowded = !many && seeks(shape) && homes.length > 0 && (await db.rows(crowded, { homes }))[0]?.it
  const belongs = many || isCrowded ? 'many' : areas.length + single.length > 0 ? 'few' : 'nothing'
  return { ...belonging, areas, homes, belongs, held: all && !denies }
}

/** What a list is planned for, and the values that come with it. */
export async function planned(
  db: Db,
  viewer: Viewer | null,
  shape: ProjectListShape,
  filters: ProjectListFilters,
): Promise<[Shape, ProjectListValues]> {
  const belonging = await readBelonging(db, viewer, shape, filters)
  const { belongs, held, denies } = belonging
  const open = openTo(viewer)
  const everything = viewer?.admin === true
  const reach = known(filters.limit + filters.offset)
  const full = Object.assign({ everything, open, belongs, held, denies, small: false, reach }, shape)
  full.small = await isSmall(db, full, filters)
  const values = { user_id: viewer?.id ?? null, open_to: open, pattern: containing(filters.search) }
  return [full, Object.assign(values, filters, belonging)]
}
