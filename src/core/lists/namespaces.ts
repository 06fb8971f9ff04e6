import { sql, type RawBuilder } from 'kysely'
import type { Sql } from '../../db/statement.ts'
import { meaning } from '../../db/text.ts'
import { lasts } from '../values/expiry.ts'
import type { NamespaceListFilters, NamespaceListShape, NamespaceListValues } from './namespace_shape.ts'
import { ROLES, openTo, type Viewer } from '../sight/roles.ts'
import { bySimilarity } from '../values/similarity.ts'

// Lists of groups and of namespaces: one plain statement, of which each filter is a condition on the namespace `n`. They
// read `mine`, the grants of the viewer.

type P = { readonly [Name in keyof NamespaceListValues]: RawBuilder<NamespaceListValues[Name]> }

function placeOf(p: P, of: NamespaceListShape['of']): Sql {
  switch (of) {
    case 'all':
      return sql`true`
    case 'top':
      return sql`n.parent_id is null`
    case 'children':
      return sql`n.parent_id = ${p.of_id}`
    case 'below':
      return sql`n.traversal_ids @> array[${p.of_id}::bigint] and n.id <> ${p.of_id}`
    case 'sharing':
      return sql`n.id = any(array(select l.shared_group_id from group_group_links l
        where l.shared_with_group_id = ${p.of_id} and ${lasts('l')}))`
    case 'invited':
      return sql`n.id = any(array(select l.shared_with_group_id from group_group_links l
        where l.shared_group_id = any(${p.line}::bigint[]) and ${lasts('l')}))`
  }
}

const heldFrom = (least: Sql): Sql => sql`array(
  select g.namespace_id from mine g where g.access_level >= ${least} and g.namespace_id is not null)`
const denied = sql`array(
  select g.namespace_id from mine g where g.access_level = ${sql.lit(ROLES.no_access)} and g.namespace_id is not null)`
const minimal = sql`select g.namespace_id from mine g where g.access_level = ${sql.lit(ROLES.minimal_access)}`
/** The line above whatever the viewer is let into, and groups held with Minimal Access. */
const above = sql`${minimal} union
  select unnest(d.traversal_ids) from mine g left join projects gp on gp.id = g.project_id
    join namespaces d on d.id = coalesce(g.namespace_id, gp.namespace_id)
   where g.access_level >= ${sql.lit(ROLES.guest)}
     and not exists (select from mine z where z.access_level = ${sql.lit(ROLES.no_access)}
                      and (z.namespace_id = any(d.traversal_ids) or z.project_id = g.project_id))`
const owned = (p: P): Sql => sql`
  select m.namespace_id from members m
   where m.user_id = ${p.user_id} and m.access_level >= ${sql.lit(ROLES.owner)} and m.namespace_id is not null
     and ${lasts('m')}`

/** Whether the viewer belongs to it, as the scope has it. A denial wins, whatever gave the role. */
function holds(p: P, scope: 'visible' | 'member' | 'owned' | 'role'): Sql {
  const is = (ids: Sql): Sql => sql`n.id = any(array(${ids}))`
  const held = {
    visible: sql`(n.traversal_ids && ${heldFrom(sql.lit(ROLES.guest))} or ${is(above)})`,
    member: sql`(n.traversal_ids && ${heldFrom(sql.lit(ROLES.guest))} or ${is(above)})`,
    owned: is(owned(p)),
    role: sql`(n.traversal_ids && ${heldFrom(sql`greatest(${p.role}, ${sql.lit(ROLES.guest)})`)}
               or ${p.role} <= ${sql.lit(ROLES.minimal_access)} and ${is(minimal)})`,
  }[scope]
  return sql`(${held} and not n.traversal_ids && ${denied})`
}

function sees(p: P, { scope }: NamespaceListShape): Sql {
  if (scope === 'all') return sql`true`
  return scope === 'visible' ? sql`(n.visibility = any(${p.open_to}) or ${holds(p, scope)})` : holds(p, scope)
}

/** A part of the name or the path; of groups anywhere, of the whole address. */
function sought(p: P, { search, of, people }: NamespaceListShape): Sql {
  const address = search === 'part' && !people && (of === 'all' || of === 'top')
  return sql`(n.name ilike ${p.pattern} or ${address ? sql`n.full_path` : sql`n.path`} ilike ${p.pattern})`
}

const conditions = (p: P, shape: NamespaceListShape): Sql[] => [
  ...(shape.people ? [] : [sql`n.kind = 'group'`]),
  placeOf(p, shape.of),
  sees(p, shape),
  ...(shape.visibility === null ? [] : [sql`n.visibility = ${sql.lit(shape.visibility)}`]),
  ...(shape.search === null ? [] : [sought(p, shape)]),
  ...(shape.skips ? [sql`n.id <> all(${p.skips}::bigint[])`] : []),
  ...(shape.storage ? [sql`n.repository_storage = ${p.storage}`] : []),
  ...(shape.attributes ? [sql`n.custom_attributes @> ${p.attributes}::jsonb`] : []),
  ...(shape.markedForDeletion ? [sql`n.marked_for_deletion_on = ${p.marked_for_deletion_on}::date`] : []),
  ...(shape.after ? [sql`(n.name, n.id) > (${p.after_name}, ${p.after_id}::bigint)`] : []),
]

/** Ties go to the older one, whichever way the order runs. */
function orderOf(p: P, { order, search, descending }: NamespaceListShape): Sql {
  if (order === 'similarity')
    return search === null ? sql`n.name, n.id` : bySimilarity('n', p.search, sql`n.parent_id is null`)
  const way = descending ? sql`desc` : sql`asc`
  return order === 'id' ? sql`n.id ${way}` : sql`${sql.ref(`n.${order}`)} ${way}, n.id`
}

export interface Parts {
  /** The rows of the page, in order. */
  readonly page: Sql
  readonly matches: Sql
  /** Sort keys of `n`. */
  readonly order: Sql
}

/** A list as parts of its statement. */
export function namespaceList(p: P, shape: NamespaceListShape): Parts {
  const order = orderOf(p, shape)
  const matches = sql`from namespaces n where ${sql.join(conditions(p, shape), sql` and `)}`
  return {
    page: sql`select n.* ${matches} order by ${order} limit ${p.limit} offset ${p.offset}`,
    matches: sql`select ${matches}`,
    order,
  }
}

/** How many namespaces such a filter leaves depends on its value: these lists are planned for their values each time. */
export const isFiltered = ({ search, attributes, after }: NamespaceListShape): boolean =>
  search !== null || attributes || after

export const valuesOf = (viewer: Viewer | null, filters: NamespaceListFilters): NamespaceListValues => ({
  ...filters,
  user_id: viewer?.id ?? null,
  open_to: openTo(viewer),
  pattern: meaning(filters.search),
})
