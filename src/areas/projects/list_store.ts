import { sql, type RawBuilder } from 'kysely'
import { areasOf } from '../../core/areas.ts'
import { openTo, type Viewer } from '../../core/roles.ts'
import { mine } from '../../core/sight.ts'
import type { Db } from '../../db/client.ts'
import { listed, paged, statements, type Listed, type Paged } from '../../db/statement.ts'
import { containing } from '../../db/text.ts'
import type { ProjectRecord } from '../../records/full_project.ts'
import type { ProjectListFilters, ProjectListShape, ProjectListValues } from './list_shape.ts'
import { counted, levelOf, orderOf, sources, type Shape } from './list_sources.ts'
import { recordsOf, revive } from './record_store.ts'

const union = (parts: readonly RawBuilder<unknown>[]): RawBuilder<unknown> =>
  sql.join(
    parts.map((part) => sql`(${part})`),
    sql` union all `,
  )

const list = statements<Shape, ProjectListValues, Paged<ProjectRecord>>((p, shape) => {
  const order = orderOf(p, shape)
  const reach = sql`(${p.limit}::bigint + ${p.offset}::bigint)`
  const held = sql`with ${mine(p)}, ${areasOf(levelOf(p, shape))}`
  const chosen = sql`select p.* from (${union(sources(p, shape, { order, reach }))}) p
    order by ${order} limit ${p.limit} offset ${p.offset}`
  const page = sql<ProjectRecord>`${held} ${recordsOf(p, chosen, shape.everything)} order by ${order}`
  return shape.keyset
    ? sql`select r.*, 0 as total_count, row_number() over () as position from (${page}) r`
    : paged(page, sql`${held} select from (${union(counted(p, shape))}) m`)
})

/** One page of projects, as far as the viewer may see them. */
export async function listProjects(
  db: Db,
  viewer: Viewer | null,
  shape: ProjectListShape,
  values: ProjectListFilters,
): Promise<Listed<ProjectRecord>> {
  const everything = viewer?.admin === true
  const open = openTo(viewer)
  const rows = await db.rows(list({ ...shape, everything, open }), {
    ...values,
    user_id: viewer?.id ?? null,
    open_to: open,
    pattern: containing(values.search),
  })
  const found = listed(rows)
  return { ...found, items: found.items.map(revive) }
}
