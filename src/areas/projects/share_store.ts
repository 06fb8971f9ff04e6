import { sql } from 'kysely'
import type { Db } from '../../db/db.ts'
import { q, statement, type Slots } from '../../db/statement.ts'

interface NewShare {
  readonly project_id: number
  readonly group_id: number
  readonly group_access: number
  readonly expires_at: string | null
}
type Share = NewShare & { readonly id: number }

const insert = statement(
  (p: Slots<NewShare>) => sql<Share>`
    insert into project_group_links as l (project_id, group_id, group_access, expires_at)
    values (${p.project_id}, ${p.group_id}, ${p.group_access}, ${p.expires_at}::date)
    on conflict (project_id, group_id)
    do update set group_access = excluded.group_access, expires_at = excluded.expires_at, created_at = now()
     where l.expires_at <= today()
    returning id, project_id, group_id, group_access, expires_at`,
)
/** Undefined when they share already, by a share that has not expired. */
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
