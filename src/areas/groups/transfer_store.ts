import { sql } from 'kysely'
import { below, heldBy, roleInNamespace, type Viewer } from '../../core/sight/roles.ts'
import type { Db } from '../../db/db.ts'
import type { Namespace } from '../../db/schema/tables.ts'
import { paged, pageStatements, type Listed } from '../../db/pages.ts'
import { containing } from '../../db/text.ts'

interface Values {
  readonly user_id: number
  readonly group_id: number
  readonly parent_id: number | null
  readonly pattern: string
  readonly limit: number
  readonly offset: number
}

const list = pageStatements<{ everything: boolean; search: boolean }, Values, Namespace>((p, shape) => {
  const mine = sql`with mine as materialized (select * from ${heldBy(p.user_id)} g)`
  const role = roleInNamespace(sql`mine`, sql`n.traversal_ids`)
  const least = sql`case when n.settings->>'subgroup_creation_level' = 'owner' then 50 else 40 end`
  const allowed = shape.everything
    ? sql`true`
    : sql`n.id = any(array(select d.id from mine g, ${below(sql`g.namespace_id`)} d where g.access_level >= 40))
          and ${role} >= ${least}`
  const where = sql`
    n.kind = 'group' and n.id is distinct from ${p.parent_id} and not n.traversal_ids @> array[${p.group_id}::bigint]
    and ${allowed}
    ${shape.search ? sql`and (n.name ilike ${p.pattern} or n.full_path ilike ${p.pattern})` : sql``}`
  return paged(
    sql<Namespace>`${mine} select n.* from namespaces n where ${where} order by n.name, n.id
                   limit ${p.limit} offset ${p.offset}`,
    sql`${mine} select from namespaces n where ${where}`,
  )
})

interface Page {
  readonly search: string
  readonly limit: number
  readonly offset: number
}

/** The groups in which the viewer may create subgroups, but for the group itself, what is below it and where it is. */
export async function listTransferLocations(
  db: Db,
  viewer: Viewer,
  group: Namespace,
  { search, limit, offset }: Page,
): Promise<Listed<Namespace>> {
  return db.page(list({ everything: viewer.admin, search: search !== '' }), {
    user_id: viewer.id,
    group_id: group.id,
    parent_id: group.parent_id,
    pattern: containing(search),
    limit,
    offset,
  })
}
