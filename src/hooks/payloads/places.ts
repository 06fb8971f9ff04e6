import { sql } from 'kysely'
import { ROLE_NAMES } from '../../core/sight/roles.ts'
import { statement, type Slots } from '../../db/statement.ts'
import type { EventRow, Payload, Site } from './common.ts'

// Members, projects, groups and users: what group and system webhooks hear of.

interface Home {
  readonly name: string
  readonly path: string
  readonly full_path: string
  readonly parent: Payload | null
  readonly owner: { readonly name: string; readonly email: string } | null
}
const home = statement(
  (p: Slots<{ id: number | null }>) => sql<Home>`
    select n.name, n.path, n.full_path,
           (select json_build_object('id', o.id, 'name', o.name, 'path', o.path, 'full_path', o.full_path)
              from namespaces o where o.id = n.parent_id) as parent,
           (select json_build_object('name', u.name, 'email', u.email) from users u where u.id = n.owner_id) as owner
      from namespaces n where n.id = ${p.id}`,
)
const owners = statement(
  (p: Slots<{ project_id: number | null; group_id: number | null }>) => sql<{ name: string; email: string }>`
    select u.name, coalesce(nullif(u.public_email, ''), '[REDACTED]') as email
      from members m join users u on u.id = m.user_id
     where m.access_level = 50 and (m.project_id = ${p.project_id} or m.namespace_id = ${p.group_id}) order by u.id limit 20`,
)

/** A project that was made or deleted. */
export async function projectHook({ db }: Site, event: EventRow, isSystem: boolean): Promise<Payload> {
  const { data } = event
  const place = await db.one(home, { id: event.group_id })
  const found = await db.rows(owners, { project_id: event.project_id, group_id: event.group_id })
  return {
    event_name: event.action,
    created_at: data['created_at'],
    updated_at: data['updated_at'],
    name: data['name'],
    path: data['path'],
    path_with_namespace: data['full_path'],
    project_id: event.project_id,
    project_namespace_id: event.group_id,
    ...(isSystem && {
      owner_name: place?.owner?.name ?? place?.name ?? null,
      owner_email: place?.owner?.email ?? '',
    }),
    owners: found,
    project_visibility: data['visibility'],
  }
}

/** A group that was made or deleted: a subgroup to the webhooks of the groups above. */
export async function groupHook({ db }: Site, event: EventRow, isSystem: boolean): Promise<Payload> {
  const { data } = event
  const { name, path, full_path, created_at, updated_at } = data
  if (isSystem)
    return {
      event_name: event.action,
      created_at,
      updated_at,
      name,
      path,
      full_path,
      group_id: event.group_id,
    }
  const line = data['line'] as readonly number[]
  const parentId = line.at(-1) ?? null
  const parent = await db.one(home, { id: parentId })
  return {
    created_at,
    updated_at,
    event_name: event.action.replace('group', 'subgroup'),
    name,
    path,
    full_path,
    group_id: event.group_id,
    parent_group_id: parentId,
    parent_name: parent?.name ?? null,
    parent_path: parent?.path ?? null,
    parent_full_path: parent?.full_path ?? null,
  }
}

interface Named {
  readonly username: string
  readonly name: string
  readonly email: string
  readonly user_email: string
}
const user = statement(
  (p: Slots<{ id: number }>) => sql<Named>`
    select username, name, coalesce(nullif(public_email, ''), '[REDACTED]') as email, email as user_email
      from users where id = ${p.id}`,
)
const project = statement(
  (p: Slots<{ id: number | null }>) => sql<{
    name: string
    path: string
    full_path: string
    visibility: string
  }>`
    select name, path, full_path, visibility from projects where id = ${p.id}`,
)

/** A role that was given, changed or taken away. */
export async function memberHook(
  { db }: Site,
  event: EventRow,
  isSystem: boolean,
): Promise<Payload | undefined> {
  const { user_id, access_level, expires_at } = event.data as {
    user_id: number
    access_level: number
    expires_at: string | null
  }
  const who = await db.one(user, { id: user_id })
  if (who === undefined) return undefined
  const role = ROLE_NAMES.get(access_level) ?? String(access_level)
  const member = {
    user_username: who.username,
    user_name: who.name,
    user_email: isSystem ? who.user_email : who.email,
    user_id,
  }
  const times = { created_at: event.created_at, updated_at: event.created_at }
  if (event.project_id === null) {
    const group = await db.one(home, { id: event.group_id })
    if (group === undefined) return undefined
    return {
      ...times,
      group_name: group.name,
      group_path: group.path,
      group_id: event.group_id,
      ...member,
      group_access: role,
      group_plan: null,
      expires_at,
      event_name: event.action,
    }
  }
  const place = await db.one(project, { id: event.project_id })
  if (place === undefined) return undefined
  return {
    ...times,
    event_name: event.action,
    project_name: place.name,
    project_path: place.path,
    project_path_with_namespace: place.full_path,
    project_id: event.project_id,
    project_visibility: place.visibility,
    ...member,
    access_level: role,
    expires_at,
  }
}

/** A user that was made or deleted. */
export const userHook = ({ action, target_id, data }: EventRow): Payload => ({
  event_name: action,
  created_at: data['created_at'],
  updated_at: data['updated_at'],
  name: data['name'],
  username: data['username'],
  email: data['email'],
  user_id: target_id,
})
