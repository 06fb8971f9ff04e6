import { sql, type RawBuilder } from 'kysely'
import { lasts } from '../../core/expiry.ts'
import { isRanged, partsOf, planned } from '../../core/namespace_list.ts'
import type { Shape } from '../../core/namespace_list_filters.ts'
import type {
  NamespaceListFilters,
  NamespaceListShape,
  NamespaceListValues,
} from '../../core/namespace_list_shape.ts'
import { openTo, type Viewer } from '../../core/roles.ts'
import { mine, seesGroup } from '../../core/sight.ts'
import type { Db } from '../../db/client.ts'
import type { Visibility } from '../../db/schema.ts'
import { type Listed, paged, pageStatements } from '../../db/pages.ts'
import { statements } from '../../db/statement.ts'
import type { GroupWithSizes } from './entity.ts'

const size = (namespaces: RawBuilder<unknown>): RawBuilder<unknown> => sql`(
  select coalesce(sum(p.repository_size), 0)::bigint from projects p where p.namespace_id = any(${namespaces}))`

interface Shown extends Shape {
  readonly sizes: boolean
}
const list = pageStatements<Shown, NamespaceListValues, GroupWithSizes>((p, shape) => {
  const { before, page, all, rows, order, matches } = partsOf(p, shape)
  const sizes = shape.sizes
    ? sql`${size(sql`array[n.id]`)} as repository_size,
          ${size(sql`array(select d.id from namespaces d where d.traversal_ids @> array[n.id])`)} as root_repository_size`
    : sql`null as repository_size, null as root_repository_size`
  const shown = (ids: RawBuilder<unknown>): RawBuilder<GroupWithSizes> =>
    sql<GroupWithSizes>`select n.*, ${sizes} from (${rows(ids)}) n order by ${order}`
  const ordering = { chosen: all, shown }
  return { ...paged(shown(page), shape.after ? undefined : matches, before), ordering }
}, isRanged)

/** One page of groups, in as many round trips whatever their number. */
export async function listGroups(
  db: Db,
  viewer: Viewer | null,
  shape: NamespaceListShape & { readonly sizes: boolean },
  filters: NamespaceListFilters,
): Promise<Listed<GroupWithSizes>> {
  const [whole, values] = await planned(db, viewer, shape, filters)
  return db.page(list(whole), values)
}

export interface GroupShare {
  readonly group_id: number
  readonly group_name: string
  readonly group_full_path: string
  readonly group_access_level: number
  readonly expires_at: string | null
}

const shares = statements<
  { everything: boolean },
  { group_id: number; user_id: number | null; open_to: readonly Visibility[] },
  GroupShare
>(
  (p, { everything }) => sql`
    with ${mine(p)}
    select n.id as group_id, n.name as group_name, n.full_path as group_full_path,
           l.group_access::int as group_access_level, l.expires_at
      from group_group_links l join namespaces n on n.id = l.shared_with_group_id
     where l.shared_group_id = ${p.group_id} and ${lasts('l')} and ${seesGroup(p, everything)}
     order by l.id`,
)

/** The groups that a group is shared with, as far as the viewer may see them. */
export const listShares = (db: Db, viewer: Viewer | null, groupId: number): Promise<GroupShare[]> =>
  db.rows(shares({ everything: viewer?.admin === true }), {
    group_id: groupId,
    user_id: viewer?.id ?? null,
    open_to: openTo(viewer),
  })
