import { sql } from 'kysely'
import type { Db } from '../../db/db.ts'
import { recordMembers } from './member_events.ts'
import { statement, type Slots } from '../../db/statement.ts'

export interface Membership {
  readonly user_id: number
  readonly access_level: number
  readonly expires_at: string | null
}

const upsertGroupMember = statement(
  (p: Slots<Membership & { namespace_id: number }>) => sql<{ added: boolean }>`
    insert into members (user_id, namespace_id, access_level, expires_at)
    values (${p.user_id}, ${p.namespace_id}, ${p.access_level}, ${p.expires_at}::date)
    on conflict (user_id, namespace_id) where namespace_id is not null
    do update set access_level = excluded.access_level, expires_at = excluded.expires_at, updated_at = now()
    returning xmax = 0 as added`,
)
const upsertProjectMember = statement(
  (p: Slots<Membership & { project_id: number }>) => sql<{ added: boolean }>`
    insert into members (user_id, project_id, access_level, expires_at)
    values (${p.user_id}, ${p.project_id}, ${p.access_level}, ${p.expires_at}::date)
    on conflict (user_id, project_id) where project_id is not null
    do update set access_level = excluded.access_level, expires_at = excluded.expires_at, updated_at = now()
    returning xmax = 0 as added`,
)

/** Gives a user a level on a group, or changes the one it has. `expires_at` is the first day without it. */
export async function setInGroup(db: Db, member: Membership & { namespace_id: number }): Promise<void> {
  const { added } = await db.insert(upsertGroupMember, member)
  await recordMembers(db, added ? 'add' : 'update', [{ ...member, project_id: null }], null)
}

/** The same on a project. */
export async function setInProject(db: Db, member: Membership & { project_id: number }): Promise<void> {
  const { added } = await db.insert(upsertProjectMember, member)
  await recordMembers(db, added ? 'add' : 'update', [{ ...member, namespace_id: null }], null)
}
