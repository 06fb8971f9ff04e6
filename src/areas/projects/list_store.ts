import { sql } from 'kysely'
import { partsOf, planned } from '../../core/project_list.ts'
import { isRanged, type Shape } from '../../core/project_list_filters.ts'
import type {
  ProjectListFilters,
  ProjectListShape,
  ProjectListValues,
} from '../../core/project_list_shape.ts'
import type { Viewer } from '../../core/roles.ts'
import type { Db } from '../../db/client.ts'
import { listed, paged, statements, type Listed, type Paged } from '../../db/statement.ts'
import type { ProjectRecord } from '../../records/full_project.ts'
import { recordsOf, revive } from './record_store.ts'

const list = statements<Shape, ProjectListValues, Paged<ProjectRecord>>((p, shape) => {
  const { before, rows, order, matches } = partsOf(p, shape)
  const page = sql<ProjectRecord>`${recordsOf(p, rows, shape.everything)} order by ${order}`
  return shape.uncounted
    ? sql`with ${before} select r.*, 0 as total_count, row_number() over () as position from (${page}) r`
    : paged(page, matches, before)
}, isRanged)

/** One page of projects, as far as the viewer may see them. */
export async function listProjects(
  db: Db,
  viewer: Viewer | null,
  shape: ProjectListShape,
  filters: ProjectListFilters,
): Promise<Listed<ProjectRecord>> {
  const [whole, values] = await planned(db, viewer, shape, filters)
  const found = listed(await db.rows(list(whole), values))
  return { ...found, items: found.items.map(revive) }
}
