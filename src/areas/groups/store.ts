import { sql, type RawBuilder } from 'kysely'
import { lasts } from '../../core/values/expiry.ts'
import { isFiltered, namespaceList, valuesOf } from '../../core/lists/namespaces.ts'
import type {
  NamespaceListFilters,
  NamespaceListShape,
  NamespaceListValues,
} from '../../core/lists/namespace_shape.ts'
import { openTo, type Viewer } from '../../core/sight/roles.ts'
import { mine, seesGroup } from '../../core/sight/callers.ts'
import type { Db } from '../../db/db.ts'
import type { Visibility } from '../../db/schema/columns.ts'
import { type Listed, paged, pageStatements } from '../../db/pages.ts'
import { statements } from '../../db/statement.ts'
import type { GroupWithSizes } from './entity.ts'

const size = (namespaces: RawBuilder<unknown>): RawBuilder<unknown> => sql`(
  select coalesce(sum(p.repository_size), 0)::bigint from projects p where p.namespace_id = any(${namespaces}))`

type Shown = NamespaceListShape & { readonly sizes: boolean }
const list = pageStatements<Shown, NamespaceListValues, GroupWithSizes>((p, shape) => {
  const { page, matches, order } = namespaceList(p, shape)
  const sizes = shape.sizes
    ? sql`${size(sql`array[n.id]`)} as repository_size,
          ${size(sql`array(select d.id from namespaces d where d.traversal_ids @> array[n.id])`)} as root_repository_size`
    : sql`null as repository_size, null as root_repository_size`
  const shown = sql<GroupWithSizes>`select n.*, ${sizes} from (${page}) n order by ${order}`
  return paged(shown, shape.after ? undefined : matches, mine(p))
}, isFiltered)

/** One page of groups, in as many round trips whatever their number. */
export const listGroups = (
  db: Db,
  viewer: Viewer | null,
  shape: Shown,
  filters: NamespaceListFilters,
): Promise<Listed<GroupWithSizes>> => db.page(list(shape), valuesOf(viewer, filters))

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
