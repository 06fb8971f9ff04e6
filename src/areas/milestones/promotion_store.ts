import { sql } from 'kysely'
import { heldBy, roleInNamespace } from '../../core/sight/roles.ts'
import type { Db } from '../../db/db.ts'
import { statement, type Slots } from '../../db/statement.ts'
import type { Home } from './store.ts'

const groupOf = statement(
  (p: Slots<{ user_id: number; namespace_id: number }>) => sql<{
    id: number
    traversal_ids: number[]
    role: number
  }>`
    select n.id, n.traversal_ids,
           coalesce(${roleInNamespace(heldBy(p.user_id), sql`n.traversal_ids`)}, 0) as role
      from namespaces n where n.id = ${p.namespace_id} and n.kind = 'group'`,
)

/** The group that a project stands in, with what the user holds on it; undefined for a personal namespace. */
export async function findGroup(
  db: Db,
  user_id: number,
  namespace_id: number,
): Promise<{ readonly home: Home; readonly role: number } | undefined> {
  const found = await db.one(groupOf, { user_id, namespace_id })
  return found && { home: { kind: 'group', id: found.id, line: found.traversal_ids }, role: found.role }
}

const namesakes = statement(
  (p: Slots<{ group_id: number; title: string }>) => sql<{ id: number }>`
    select m.id from milestones m join projects p on p.id = m.project_id
     where p.namespace_id = ${p.group_id} and m.title = ${p.title}
     order by m.id for update of m`,
)
/** The milestones with that title of the projects directly in the group; nobody else changes them any more. */
export const lockNamesakes = async (db: Db, group_id: number, title: string): Promise<number[]> =>
  (await db.rows(namesakes, { group_id, title })).map(({ id }) => id)

type Merge = { readonly into: number; readonly from: readonly number[] }
const moves = (['issues', 'merge_requests', 'resource_milestone_events'] as const).map((table) =>
  statement(
    (p: Slots<Merge>) => sql`
      update ${sql.table(table)} set milestone_id = ${p.into} where milestone_id = any(${p.from}::bigint[])`,
  ),
)
const drop = statement((p: Slots<Merge>) => sql`delete from milestones where id = any(${p.from}::bigint[])`)

/** Hands over all that hangs on some milestones, with what became of it, and removes them. */
export async function mergeMilestones(db: Db, merge: Merge): Promise<void> {
  for (const move of moves) await db.run(move, merge)
  await db.run(drop, merge)
}
