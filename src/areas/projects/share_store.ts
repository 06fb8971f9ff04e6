import { sql } from 'kysely'
import type { Db } from '../../db/client.ts'
import { q, statement, type Slots } from '../../db/statement.ts'

interface NewShare {
  readonly project_id: number
  readonly group_id: number
  readonly group_access: number
  readonly expires_at: string | null
}
type Share = NewShare & { readonly id: number }

const insert = statement((p: Slots<NewShare>) =>
  q
    .insertInto('project_group_links')
    .values({
      project_id: p.project_id,
      group_id: p.group_id,
      group_access: p.group_access,
      expires_at: p.expires_at,
    })
    .returning(['id', 'project_id', 'group_id', 'group_access', 'expires_at']),
)
/** Violates `project_group_links_project_id_group_id_key` when they share already. */
export const share = (db: Db, values: NewShare): Promise<Share | undefined> => db.one(insert, values)

const byGroup = statement((p: Slots<{ project_id: number; group_id: number }>) =>
  q
    .selectFrom('project_group_links')
    .selectAll()
    .where('project_id', '=', p.project_id)
    .where('group_id', '=', p.group_id),
)
export const find = (db: Db, projectId: number, groupId: number): Promise<Share | undefined> =>
  db.one(byGroup, { project_id: projectId, group_id: groupId })

const remove = statement((p: Slots<{ project_id: number; group_id: number }>) =>
  q
    .deleteFrom('project_group_links')
    .where('project_id', '=', p.project_id)
    .where('group_id', '=', p.group_id),
)
export const unshare = (db: Db, projectId: number, groupId: number): Promise<number> =>
  db.run(remove, { project_id: projectId, group_id: groupId })

const lock = statement(
  (p: Slots<{ id: number }>) => sql<{ locked: boolean }>`
    select coalesce((settings->>'share_with_group_lock')::boolean, false) as locked from namespaces where id = ${p.id}`,
)
/** Whether a group keeps its projects to itself. */
export const isLocked = async (db: Db, namespaceId: number): Promise<boolean> =>
  (await db.one(lock, { id: namespaceId }))?.locked === true
