import { sql, type RawBuilder } from 'kysely'
import { lasts } from '../../core/values/expiry.ts'
import { isFiltered, namespaceList, valuesOf } from '../../core/lists/namespaces.ts'
import {
  ANY_NAMESPACE,
  NAMESPACE_LIST_SHAPE,
  type NamespaceListShape,
  type NamespaceListValues,
} from '../../core/lists/namespace_shape.ts'
import { ROLES, roleInNamespace, type Viewer } from '../../core/sight/roles.ts'
import { mine } from '../../core/sight/callers.ts'
import type { Db } from '../../db/db.ts'
import { existing } from '../../db/rows.ts'
import type { Namespace } from '../../db/schema/tables.ts'
import { paged, pageStatements, type Listed } from '../../db/pages.ts'
import { statement, statements, type Slots } from '../../db/statement.ts'
import { meant } from '../../db/text.ts'
import type { NamespaceWithCounts } from './entity.ts'

/**
 * Members anywhere in the hierarchy of a namespace: of its groups, its projects, and of groups they are shared with.
 * `below.ids` are the namespaces of the hierarchy and `works.ids` its projects, as lists: joined as rows, PostgreSQL takes
 * them for many and reads whole tables.
 */
const membersBelow = (id: RawBuilder<unknown>): RawBuilder<unknown> => sql`
  select m.user_id, m.access_level, true as of_group
    from members m where m.namespace_id = any(below.ids) and ${lasts('m')}
  union all
  select m.user_id, m.access_level, false
    from members m
   where m.project_id = any(works.ids) and ${lasts('m')}
  union all
  select m.user_id, least(m.access_level, l.group_access), false
    from group_group_links l join namespaces invited on invited.id = l.shared_with_group_id,
         lateral (select m.* from members m
                   where m.namespace_id = any(invited.traversal_ids) and ${lasts('m')} offset 0) m
   where l.shared_group_id = any(below.ids) and ${lasts('l')}
  union all
  select m.user_id, least(m.access_level, l.group_access), false
    from project_group_links l join namespaces invited on invited.id = l.group_id,
         lateral (select m.* from members m
                   where m.namespace_id = any(invited.traversal_ids) and ${lasts('m')} offset 0) m
   where exists (select from projects p where p.id = l.project_id and p.namespace_id = any(below.ids)) and ${lasts('l')}
  union all
  select d.owner_id, 50, false from namespaces d where d.id = ${id} and d.owner_id is not null`

/** Counts for each namespace of a page. `request` holds the least level that needs a seat. */
const counts = (namespace: string): RawBuilder<unknown> => {
  const id = sql.ref(`${namespace}.id`)
  return sql`
    lateral (select array(select d.id from namespaces d where d.traversal_ids @> array[${id}]) as ids offset 0) as below,
    lateral (
      select array_agg(p.id) as ids, count(*)::int as projects_count,
             coalesce(sum(p.repository_size), 0)::bigint as root_repository_size
        from projects p where p.namespace_id = any(below.ids)) as works,
    lateral (
      select works.projects_count, works.root_repository_size,
             count(distinct u.id) filter (where m.access_level >= (select least_billable from request))::int
               as billable_members_count,
             count(distinct u.id) filter (where m.of_group)::int as members_count_with_descendants
        from (${membersBelow(id)}) m,
             lateral (select u.id from users u
                       where u.id = m.user_id and u.state = 'active' and u.user_type = 'human' offset 0) u) as counted`
}

interface ListValues extends NamespaceListValues {
  readonly least_billable: number
}
const listStatement = pageStatements<NamespaceListShape, ListValues, NamespaceWithCounts>((p, shape) => {
  const { page, matches, order } = namespaceList(p, shape)
  const shown = sql<NamespaceWithCounts>`
    with request as (select ${p.least_billable}::int as least_billable)
    select n.*, coalesce(${roleInNamespace(sql`mine`, sql`n.traversal_ids`)}, 0) as role, counted.*
      from (${page}) n, ${counts('n')}
     order by ${order}`
  return paged(shown, matches, mine(p))
}, isFiltered)

export interface Wanted {
  readonly ownedOnly: boolean
  readonly topLevelOnly: boolean
  readonly search: string
  readonly leastBillable: number
  readonly limit: number
  readonly offset: number
}

/** One page of the namespaces that the viewer holds something on; of all there are, for administrators. */
export async function list(
  db: Db,
  viewer: Viewer,
  { ownedOnly, topLevelOnly, search, leastBillable, limit, offset }: Wanted,
): Promise<Listed<NamespaceWithCounts>> {
  const shape: NamespaceListShape = {
    ...NAMESPACE_LIST_SHAPE,
    people: true,
    of: topLevelOnly ? 'top' : 'all',
    scope: viewer.admin && !ownedOnly ? 'all' : 'role',
    search: meant(search),
  }
  const role = ownedOnly ? ROLES.owner : ROLES.minimal_access
  return db.page(listStatement(shape), {
    ...valuesOf(viewer, { ...ANY_NAMESPACE, search, role, limit, offset }),
    least_billable: leastBillable,
  })
}

const countsStatement = statement(
  (p: Slots<{ id: number; least_billable: number }>) => sql<
    Omit<NamespaceWithCounts, keyof Namespace | 'role'>
  >`
    with request as (select ${p.least_billable}::int as least_billable)
    select counted.* from namespaces n, ${counts('n')} where n.id = ${p.id}`,
)

export const withCounts = async (
  db: Db,
  namespace: Namespace & { readonly role: number },
  leastBillable: number,
): Promise<NamespaceWithCounts> => {
  // Counting takes as long as there is to count: not on the lane of look-ups by key.
  const [counted] = await db.rows(countsStatement, { id: namespace.id, least_billable: leastBillable })
  return { ...namespace, ...existing(counted) }
}

const takenStatement = statements<{ top: boolean }, { parent_id: number; names: string[] }, { name: string }>(
  (p, { top }) => sql`
    select wanted.name from unnest(${p.names}::text[]) as wanted (name)
     where exists (select from namespaces n
                    where ${top ? sql`n.parent_id is null` : sql`n.parent_id = ${p.parent_id}`}
                      and (lower(n.path) = lower(wanted.name) or lower(n.name) = lower(wanted.name)))`,
)
const existsStatement = statements<{ top: boolean }, { parent_id: number; path: string }, unknown>(
  (p, { top }) => sql`
    select 1 from namespaces n
     where ${top ? sql`n.parent_id is null` : sql`n.parent_id = ${p.parent_id}`} and lower(n.path) = lower(${p.path})`,
)

const inside = (parentId: number | undefined): { top: boolean } => ({ top: parentId === undefined })

/** Whether a namespace directly below the parent (none: at the top) has that path. */
export const exists = async (db: Db, parentId: number | undefined, path: string): Promise<boolean> =>
  (await db.one(existsStatement(inside(parentId)), { parent_id: parentId ?? 0, path })) !== undefined

/** Which of the names are the path or the name of a namespace directly below the parent. */
export const taken = async (db: Db, parentId: number | undefined, names: string[]): Promise<Set<string>> => {
  const rows = await db.rows(takenStatement(inside(parentId)), { parent_id: parentId ?? 0, names })
  return new Set(rows.map((row) => row.name))
}
