import { sql, type RawBuilder } from 'kysely'
import { belongingOf, mineFrom } from '../../core/areas.ts'
import { ROLES, openTo, type Viewer } from '../../core/roles.ts'
import type { Db } from '../../db/client.ts'
import { known, listed, paged, statements, type Listed, type Paged } from '../../db/statement.ts'
import { containing } from '../../db/text.ts'
import type { ProjectRecord } from '../../records/full_project.ts'
import type { ProjectListFilters, ProjectListShape, ProjectListValues } from './list_shape.ts'
import type { Shape } from './list_filters.ts'
import { counted, frequency, orderOf, seeks, sources } from './list_sources.ts'
import { recordsOf, revive } from './record_store.ts'

const union = (parts: readonly RawBuilder<unknown>[]): RawBuilder<unknown> =>
  sql.join(
    parts.map((part) => sql`(${part})`),
    sql` union all `,
  )

const list = statements<Shape, ProjectListValues, Paged<ProjectRecord>>((p, shape) => {
  const order = orderOf(p, shape)
  const before = sql`${mineFrom(p)}${seeks(shape) ? sql`, ${frequency(p, shape)}` : sql``}`
  const chosen = sql`select p.* from (${union(sources(p, shape, { order, reach: shape.reach }))}) p
    order by ${order} limit ${p.limit} offset ${p.offset}`
  const page = sql<ProjectRecord>`${recordsOf(p, chosen, shape.everything)} order by ${order}`
  return shape.keyset
    ? sql`with ${before} select r.*, 0 as total_count, row_number() over () as position from (${page}) r`
    : paged(page, sql`select from (${union(counted(p, shape))}) m`, before)
})

/** One page of projects, as far as the viewer may see them. */
export async function listProjects(
  db: Db,
  viewer: Viewer | null,
  shape: ProjectListShape,
  filters: ProjectListFilters,
): Promise<Listed<ProjectRecord>> {
  const open = openTo(viewer)
  const level = shape.role ? filters.role : ROLES.guest
  const { many, denies, ...belonging } = await belongingOf(db, viewer?.id ?? null, level)
  const { areas, single } = belonging
  const whole = {
    ...shape,
    everything: viewer?.admin === true,
    open,
    belongs: many ? 'many' : areas.length + single.length > 0 ? 'few' : 'nothing',
    denies,
    reach: known(filters.limit + filters.offset),
  } as const
  const rows = await db.rows(list(whole), {
    ...filters,
    ...belonging,
    user_id: viewer?.id ?? null,
    open_to: open,
    pattern: containing(filters.search),
  })
  const found = listed(rows)
  return { ...found, items: found.items.map(revive) }
}
