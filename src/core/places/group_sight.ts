import { sql } from 'kysely'
import type { Db } from '../../db/db.ts'
import { statement, type Slots } from '../../db/statement.ts'
import type { Group } from './groups.ts'
import { ROLES, belongsBelow, canSee, heldBy, roleInNamespace, type Viewer } from '../sight/roles.ts'

const MINIMAL = sql.lit(ROLES.minimal_access)

const byId = statement(
  (p: Slots<{ id: number; user_id: number | null }>) => sql<Group & { belongs_below: boolean }>`
    with mine as materialized (select * from ${heldBy(p.user_id)} g)
    select n.*, coalesce(held.role, 0) as role,
           n.visibility <> 'public' and coalesce(held.role, ${MINIMAL}) = ${MINIMAL} and ${belongsBelow(sql`mine`, sql`n.id`)} as belongs_below
      from namespaces n, lateral (select ${roleInNamespace(sql`mine`, sql`n.traversal_ids`)} as role) held
     where n.id = ${p.id} and n.kind = 'group'`,
)

/** A group that a parameter names, with what the viewer holds on it; undefined where the viewer does not see it. */
export async function findGroup(db: Db, viewer: Viewer | null, id: number): Promise<Group | undefined> {
  const found = await db.one(byId, { id, user_id: viewer?.id ?? null })
  if (found === undefined) return undefined
  const seen = found.belongs_below || canSee(viewer, found.visibility, found.role, ROLES.minimal_access)
  return seen ? found : undefined
}
