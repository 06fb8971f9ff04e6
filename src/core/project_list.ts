import { sql, type RawBuilder } from 'kysely'
import type { Db } from '../db/client.ts'
import type { Visibility } from '../db/schema.ts'
import { known, statements } from '../db/statement.ts'
import { containing } from '../db/text.ts'
import { NOTHING, belongingOf, mineFrom, type Belonging } from './areas.ts'
import {
  among,
  frequency,
  isAlike,
  openOf,
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
import { page, union } from './walks.ts'

type Raw = RawBuilder<unknown>

interface Parts {
  /** What the others read: `mine`, the grants of the viewer, among it. */
  readonly before: Raw
  /** Whole rows of the page, and their order. */
  readonly rows: Raw
  readonly order: Raw
  /** What is to be counted. */
  readonly matches: (most: number) => Raw
}

/** A list of projects, for whoever shows them. */
export function partsOf(p: P, shape: Shape): Parts {
  const cut = cutOf(p, shape)
  const { order } = cut
  const grants = shape.belongs === 'unread' ? mine(p) : mineFrom(p)
  return {
    before: isFound(shape) ? sql`${grants}, ${frequency(p, shape)}, ${found(p, shape)}` : grants,
    rows: page(projects, sources(p, shape, cut), order, p),
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
  const seen = of === 'namespace' && isAlike(shape) ? openOf(shape) : VISIBILITIES
  return (await db.rows(size({ of, among: seen }), filters))[0]?.small === true
}

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
  const belongs = many ? 'many' : areas.length + single.length > 0 ? 'few' : 'nothing'
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
  const whole = Object.assign({ everything, open, belongs, held, denies, small: false, reach }, shape)
  whole.small = await isSmall(db, whole, filters)
  const values = { user_id: viewer?.id ?? null, open_to: open, pattern: containing(filters.search) }
  return [whole, Object.assign(values, filters, belonging)]
}
