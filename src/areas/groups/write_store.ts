import { sql } from 'kysely'
import type { Viewer } from '../../core/sight/roles.ts'
import { VISIBILITIES, isWider } from '../../core/values/visibilities.ts'
import type { Db } from '../../db/db.ts'
import type { Namespace } from '../../db/schema/tables.ts'
import type { Visibility } from '../../db/schema/columns.ts'
import { statement, type Slots } from '../../db/statement.ts'

interface Changed {
  readonly id: number
  /** Null for what stays as it is. */
  readonly description: string | null
  readonly visibility: Visibility | null
  readonly clears_avatar: boolean
  readonly settings: string
}
const update = statement(
  (p: Slots<Changed>) => sql<Namespace>`
    update namespaces
       set description = coalesce(${p.description}, description), visibility = coalesce(${p.visibility}, visibility),
           avatar_url = case when ${p.clears_avatar} then null else avatar_url end,
           settings = settings || ${p.settings}::jsonb,
           updated_at = case when ${p.description}::text is null and ${p.visibility}::text is null
                              and not ${p.clears_avatar} and settings @> ${p.settings}::jsonb
                             then updated_at else now() end
     where id = ${p.id} and kind = 'group'
    returning *`,
)

/** Changes a group, its settings merged into the ones it has. */
export const updateGroupRow = (db: Db, changed: Changed): Promise<Namespace> => db.update(update, changed)

interface Around {
  /** Whether projects or groups right inside are seen by more. */
  readonly projects: boolean
  readonly groups: boolean
  readonly parent: Visibility | undefined
}
const around = statement(
  (p: Slots<{ id: number; parent_id: number | null; wider: readonly Visibility[] }>) => sql<{
    projects: boolean
    groups: boolean
    parent: Visibility | null
  }>`
    select exists (select from projects where namespace_id = ${p.id} and visibility = any(${p.wider}::text[])) as projects,
           exists (select from namespaces where parent_id = ${p.id} and visibility = any(${p.wider}::text[])) as groups,
           (select visibility from namespaces where id = ${p.parent_id}) as parent`,
)

/** Groups around one that is to have `visibility`. */
export async function aroundVisibility(
  db: Db,
  { id, parent_id }: Pick<Namespace, 'id' | 'parent_id'>,
  visibility: Visibility,
): Promise<Around> {
  const wider = VISIBILITIES.filter((one) => isWider(one, visibility))
  const found = await db.one(around, { id, parent_id, wider })
  return {
    projects: found?.projects ?? false,
    groups: found?.groups ?? false,
    parent: found?.parent ?? undefined,
  }
}

interface GroupLink {
  readonly id: number
}
const share = statement(
  (
    p: Slots<{
      shared_group_id: number
      shared_with_group_id: number
      group_access: number
      expires_at: string | null
    }>,
  ) => sql<GroupLink>`
    insert into group_group_links as l (shared_group_id, shared_with_group_id, group_access, expires_at)
    values (${p.shared_group_id}, ${p.shared_with_group_id}, ${p.group_access}, ${p.expires_at}::date)
    on conflict (shared_group_id, shared_with_group_id)
    do update set group_access = excluded.group_access, expires_at = excluded.expires_at, created_at = now()
     where l.expires_at <= today()
    returning id`,
)

/** Shares a group with another; undefined when it is shared already, by a share that has not expired. */
export const insertShare = (
  db: Db,
  link: {
    shared_group_id: number
    shared_with_group_id: number
    group_access: number
    expires_at: string | null
  },
): Promise<GroupLink | undefined> => db.one(share, link)

const linkOf = statement(
  (p: Slots<{ group_id: number; with_id: number }>) => sql<GroupLink>`
    select id from group_group_links
     where shared_group_id = ${p.group_id} and shared_with_group_id = ${p.with_id}`,
)
export const findShare = (db: Db, groupId: number, withId: number): Promise<GroupLink | undefined> =>
  db.one(linkOf, { group_id: groupId, with_id: withId })

const unshare = statement(
  (p: Slots<{ group_id: number; id: number }>) => sql`
    delete from group_group_links where id = ${p.id} and shared_group_id = ${p.group_id}`,
)
export const removeShare = (db: Db, groupId: number, id: number): Promise<void> =>
  db.remove(unshare, { group_id: groupId, id })

const root = statement(
  (p: Slots<{ id: number }>) => sql<Namespace>`select * from namespaces where id = ${p.id}`,
)
/** The top-level group that a group is in. */
export const findRoot = (
  db: Db,
  { traversal_ids }: Pick<Namespace, 'traversal_ids'>,
): Promise<Namespace | undefined> => db.one(root, { id: traversal_ids[0] ?? 0 })

const owners = statement(
  (p: Slots<{ group_id: number }>) => sql<{ id: number }>`
    select m.id from members m join users u on u.id = m.user_id and u.user_type = 'human' and u.state = 'active'
     where m.namespace_id = ${p.group_id} and m.access_level = 50 and m.expires_at is null limit 1`,
)
/** Whether somebody owns the group itself, and for good. */
export const hasOwner = async (db: Db, groupId: number): Promise<boolean> =>
  (await db.one(owners, { group_id: groupId })) !== undefined

const creator = statement(
  (p: Slots<{ id: number }>) =>
    sql<{
      can_create_group: boolean
    }>`select can_create_group from users where id = ${p.id} and not external and user_type = 'human'`,
)
/** Whether somebody may create groups at the top. */
export const mayCreateGroup = async (db: Db, actor: Viewer): Promise<boolean> =>
  actor.admin || (await db.one(creator, { id: actor.id }))?.can_create_group === true

const note = statement(
  (p: Slots<{ id: number; key: string; value: string }>) => sql`
    update namespaces
       set custom_attributes = custom_attributes || jsonb_build_object(${p.key}::text, ${p.value}::text)
     where id = ${p.id} and kind = 'group' returning id`,
)
export const setCustomAttribute = (
  db: Db,
  id: number,
  attribute: { readonly key: string; readonly value: string },
): Promise<unknown> => db.update(note, { id, ...attribute })

const unnote = statement(
  (p: Slots<{ id: number; key: string }>) => sql`
    update namespaces set custom_attributes = custom_attributes - ${p.key}::text
     where id = ${p.id} and kind = 'group' and custom_attributes ? ${p.key}::text`,
)
export const removeCustomAttribute = (db: Db, id: number, key: string): Promise<number> =>
  db.run(unnote, { id, key })
