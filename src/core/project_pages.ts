import { sql, type RawBuilder } from 'kysely'
import type { Db } from '../db/client.ts'
import { type Listed, paged, pageStatements } from '../db/pages.ts'
import { partsOf, planned } from './project_list.ts'
import { isRanged, type P, type Shape } from './project_list_filters.ts'
import type { ProjectListFilters, ProjectListShape, ProjectListValues } from './project_list_shape.ts'
import type { Viewer } from './roles.ts'

/**
 * Lists of projects for whoever shows them, a page at a time: `shown` selects from the whole rows of one page, in any
 * order. What the viewer does not see is not there.
 */
export function projectPages<Row>(
  shown: (p: P, rows: RawBuilder<unknown>, shape: Shape) => RawBuilder<Row>,
): (
  db: Db,
  viewer: Viewer | null,
  shape: ProjectListShape,
  filters: ProjectListFilters,
) => Promise<Listed<Row>> {
  const list = pageStatements<Shape, ProjectListValues, Row>((p, shape) => {
    const { before, beside, page, all, rows, order, matches } = partsOf(p, shape)
    const shownOf = (ids: RawBuilder<unknown>): RawBuilder<Row> =>
      sql<Row>`${shown(p, rows(ids), shape)} order by ${order}`
    const ordering = { chosen: all, shown: shownOf, beside }
    return { ...paged(shownOf(page), shape.uncounted ? undefined : matches, before), ordering }
  }, isRanged)
  return async (db, viewer, shape, filters) => {
    const [whole, values] = await planned(db, viewer, shape, filters)
    return db.page(list(whole), values)
  }
}
