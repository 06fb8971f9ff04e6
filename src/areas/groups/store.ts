import { sql, type RawBuilder } from 'kysely'
import { lasts } from '../../core/expiry.ts'
import { ROLES, below, heldBy, openTo, roleInNamespace, type Viewer } from '../../core/roles.ts'
import type { Db } from '../../db/client.ts'
import type { Visibility } from '../../db/schema.ts'
import { listed, paged, statements, type Listed, type Paged } from '../../db/statement.ts'
import { meaning } from '../../db/text.ts'
import type { GroupWithSizes } from './entity.ts'

export interface ListShape {
  /** Where to look: everywhere, right below a group, anywhere below it, what was shared with it, what it invited. */
  readonly place: 'anywhere' | 'children' | 'descendants' | 'sharing' | 'invited'
  /** Which groups: all there are, all the viewer may see, those the viewer belongs to, or holds a level on. */
  readonly scope: 'all' | 'visible' | 'member' | 'owned' | 'role'
  readonly order: 'name' | 'path' | 'id' | 'similarity'
  readonly descending: boolean
  readonly search: boolean
  readonly visibility: boolean
  readonly skips: boolean
  readonly topLevelOnly: boolean
  readonly storage: boolean
  readonly markedForDeletion: boolean
  readonly sizes: boolean
  /** Page by a cursor over (name, id) instead of by offset. */
  readonly after: boolean
}
export interface ListFilters {
  /** The group that `place` speaks of, and whose invitations count. */
  readonly group_id: number
  readonly line: readonly number[]
  readonly search: string
  readonly visibility: Visibility | null
  readonly skip_groups: readonly number[]
  readonly min_access_level: number
  readonly repository_storage: string | null
  readonly marked_for_deletion_on: string | null
  readonly after: { readonly name: string; readonly id: number } | null
  readonly limit: number
  readonly offset: number
}
type Values = Omit<ListFilters, 'after'> & {
  readonly user_id: number | null
  readonly open_to: readonly Visibility[]
  readonly pattern: string
  readonly after_name: string
  readonly after_id: number
}

type P = { readonly [Name in keyof Values]: RawBuilder<Values[Name]> }

/** Whether a level of 0 on the group, or above it, takes it away from the viewer. The list is read once for all rows. */
const denied = (table: string): RawBuilder<unknown> => sql`
  ${sql.ref(`${table}.traversal_ids`)} && array(
    select z.namespace_id from mine z where z.access_level = 0 and z.namespace_id is not null)`

/** The groups of a viewer whose grants are `mine`: all on and below what is held, and the line above what one is let into. */
const belonging = sql`
    select d.id from mine g join namespaces d on d.traversal_ids @> array[g.namespace_id]
     where g.access_level >= ${sql.lit(ROLES.guest)}
        or (g.access_level = ${sql.lit(ROLES.minimal_access)} and d.id = g.namespace_id)
    union all
    select unnest(d.traversal_ids) from mine g left join projects gp on gp.id = g.project_id
      join namespaces d on d.id = coalesce(g.namespace_id, gp.namespace_id)
     where g.access_level >= ${sql.lit(ROLES.guest)} and not ${denied('d')}
       and not exists (select from mine z where z.access_level = 0 and z.project_id = g.project_id)`
/** Whether the group `n` is one of those. */
export const belongs = sql`n.id in (${belonging}) and not ${denied('n')}`

function scopeOf(p: P, { scope, search }: ListShape): RawBuilder<unknown> {
  switch (scope) {
    case 'all':
      return sql`true`
    case 'visible':
      return sql`(n.visibility = any(${p.open_to}) or (${belongs}))`
    case 'member':
      // As a list: joined as rows, they are taken for many, and whole indexes are read for a few. A word is rarer yet.
      return search ? belongs : sql`n.id = any(array(${belonging})) and not ${denied('n')}`
    case 'owned':
      return sql`n.id in (select m.namespace_id from members m
        where m.user_id = ${p.user_id} and m.access_level >= ${sql.lit(ROLES.owner)}
          and ${lasts('m')}) and not ${denied('n')}`
    case 'role':
      return sql`
        n.id = any(array(select d.id from mine g, ${below(sql`g.namespace_id`)} d))
        and ${roleInNamespace(sql`mine`, sql`n.traversal_ids`)} >= greatest(${p.min_access_level}::bigint, 1)`
  }
}

const standing = lasts('l')

function placeOf(p: P, place: ListShape['place']): RawBuilder<unknown> {
  switch (place) {
    case 'anywhere':
      return sql`true`
    case 'children':
      return sql`n.parent_id = ${p.group_id}`
    case 'descendants':
      return sql`n.traversal_ids[1] = (${p.line}::bigint[])[1] and n.id <> ${p.group_id}
                 and n.traversal_ids @> array[${p.group_id}::bigint]`
    case 'sharing':
      return sql`n.id in (select l.shared_group_id from group_group_links l
        where l.shared_with_group_id = ${p.group_id} and ${standing})`
    case 'invited':
      return sql`n.id in (select l.shared_with_group_id from group_group_links l
        where l.shared_group_id = any(${p.line}::bigint[]) and ${standing})`
  }
}

function conditions(p: P, shape: ListShape): RawBuilder<unknown> {
  return sql.join(
    [
      sql`n.kind = 'group'`,
      placeOf(p, shape.place),
      scopeOf(p, shape),
      ...(shape.search
        ? [
            shape.place === 'anywhere'
              ? sql`(n.name ilike ${p.pattern} or n.full_path ilike ${p.pattern})`
              : sql`(n.name ilike ${p.pattern} or n.path ilike ${p.pattern})`,
          ]
        : []),
      ...(shape.visibility ? [sql`n.visibility = ${p.visibility}`] : []),
      ...(shape.skips ? [sql`n.id <> all(${p.skip_groups}::bigint[])`] : []),
      ...(shape.topLevelOnly ? [sql`n.parent_id is null`] : []),
      ...(shape.storage ? [sql`n.repository_storage = ${p.repository_storage}`] : []),
      ...(shape.markedForDeletion ? [sql`n.marked_for_deletion_on = ${p.marked_for_deletion_on}::date`] : []),
    ],
    sql` and `,
  )
}

/** Ties go to the older group, whichever way the order runs. */
function orderOf(p: P, { order, descending, search }: ListShape): RawBuilder<unknown> {
  const direction = descending ? sql`desc` : sql`asc`
  if (order === 'id') return sql`n.id ${direction}`
  if (order === 'path') return sql`n.path ${direction}, n.id`
  if (order === 'name' || !search) return sql`n.name ${order === 'name' ? direction : sql`asc`}, n.id`
  return sql`
    (lower(n.path) = lower(${p.search}) or lower(n.name) = lower(${p.search})) desc,
    (starts_with(lower(n.path), lower(${p.search})) or starts_with(lower(n.name), lower(${p.search}))) desc,
    (n.name ilike ${p.pattern} or n.path ilike ${p.pattern}) desc,
    cardinality(n.traversal_ids), length(n.name), n.name, n.id`
}

const size = (namespaces: RawBuilder<unknown>): RawBuilder<unknown> => sql`(
  select coalesce(sum(p.repository_size), 0)::bigint from projects p where p.namespace_id = any(${namespaces}))`

const list = statements<ListShape, Values, Paged<GroupWithSizes>>(
  (p, shape) => {
    const where = conditions(p, shape)
    const after = shape.after ? sql`and (n.name, n.id) > (${p.after_name}, ${p.after_id}::bigint)` : sql``
    const mine = sql`with mine as materialized (select * from ${heldBy(p.user_id)} g)`
    const sizes = shape.sizes
      ? sql`${size(sql`array[n.id]`)} as repository_size,
          ${size(sql`array(select d.id from namespaces d where d.traversal_ids @> array[n.id])`)} as root_repository_size`
      : sql`null as repository_size, null as root_repository_size`
    const page = sql<GroupWithSizes>`
    ${mine} select n.*, ${sizes} from namespaces n where ${where} ${after}
     order by ${orderOf(p, shape)} limit ${p.limit} offset ${p.offset}`
    return shape.after
      ? sql`select r.*, 0 as total_count, row_number() over () as position from (${page}) r`
      : paged(page, sql`${mine} select from namespaces n where ${where}`)
  },
  ({ search, place, scope, topLevelOnly }) =>
    search || place !== 'anywhere' || scope === 'role' || topLevelOnly,
)

/** One page of groups, in two round trips however many there are. */
export async function listGroups(
  db: Db,
  viewer: Viewer | null,
  shape: ListShape,
  filters: ListFilters,
): Promise<Listed<GroupWithSizes>> {
  const { after, ...values } = filters
  return listed(
    await db.rows(list(shape), {
      ...values,
      user_id: viewer?.id ?? null,
      open_to: openTo(viewer),
      pattern: meaning(filters.search),
      after_name: after?.name ?? '',
      after_id: after?.id ?? 0,
    }),
  )
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
    with mine as materialized (select * from ${heldBy(p.user_id)} g)
    select n.id as group_id, n.name as group_name, n.full_path as group_full_path,
           l.group_access::int as group_access_level, l.expires_at
      from group_group_links l join namespaces n on n.id = l.shared_with_group_id
     where l.shared_group_id = ${p.group_id} and ${lasts('l')}
       and ${everything ? sql`true` : sql`(n.visibility = any(${p.open_to}) or (${belongs}))`}
     order by l.id`,
)

/** The groups that a group is shared with, as far as the viewer may see them. */
export const listShares = (db: Db, viewer: Viewer | null, groupId: number): Promise<GroupShare[]> =>
  db.rows(shares({ everything: viewer?.admin === true }), {
    group_id: groupId,
    user_id: viewer?.id ?? null,
    open_to: openTo(viewer),
  })
