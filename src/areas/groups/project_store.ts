import { sql } from 'kysely'
import { lasts } from '../../core/expiry.ts'
import { partsOf, planned } from '../../core/project_list.ts'
import { isRanged, type Shape } from '../../core/project_list_filters.ts'
import type {
  ProjectListFilters,
  ProjectListShape,
  ProjectListValues,
} from '../../core/project_list_shape.ts'
import type { Viewer } from '../../core/roles.ts'
import { seesGroup } from '../../core/sight.ts'
import type { Db } from '../../db/client.ts'
import { listed, paged, statements, type Listed, type Paged } from '../../db/statement.ts'
import type { ProjectInGroup } from '../../records/project.ts'

const list = statements<Shape, ProjectListValues, Paged<ProjectInGroup>>((p, shape) => {
  const { before, rows, order, matches } = partsOf(p, shape)
  const page = sql<ProjectInGroup>`
    select p.*, to_json(home) as namespace, shared.shared_with_groups
      from (${rows}) p,
           lateral (select n.name, n.path, n.kind, n.full_name, n.full_path, n.parent_id, n.avatar_url
                      from namespaces n where n.id = p.namespace_id) home,
           lateral (select coalesce(json_agg(json_build_object(
                             'group_id', n.id, 'group_name', n.name, 'group_full_path', n.full_path,
                             'group_access_level', l.group_access, 'expires_at', l.expires_at) order by l.id), '[]')
                             as shared_with_groups
                      from project_group_links l join namespaces n on n.id = l.group_id
                     where l.project_id = p.id and ${lasts('l')}
                       and ${seesGroup(p, shape.everything)}
                   ) shared
     order by ${order}`
  return shape.uncounted
    ? sql`with ${before} select r.*, 0 as total_count, row_number() over () as position from (${page}) r`
    : paged(page, matches, before)
}, isRanged)

/** One page of a group's projects, as far as the viewer may see them. */
export async function listProjects(
  db: Db,
  viewer: Viewer | null,
  shape: ProjectListShape,
  filters: ProjectListFilters,
): Promise<Listed<ProjectInGroup>> {
  const [whole, values] = await planned(db, viewer, shape, filters)
  return listed(await db.rows(list(whole), values))
}
