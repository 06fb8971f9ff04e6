import { sql } from 'kysely'
import type { Db } from '../../db/db.ts'
import type { Project } from '../../db/schema/tables.ts'
import { q, statement, type Slots } from '../../db/statement.ts'

const taken = statement(
  (p: Slots<{ namespace_id: number; id: number; name: string; full_path: string }>) => sql<{
    name: boolean
    path: boolean
  }>`
    select exists (select from projects where namespace_id = ${p.namespace_id} and name = ${p.name} and id <> ${p.id})
             as name,
           exists (select from routes where path = lower(${p.full_path}) and project_id is distinct from ${p.id}) as path`,
)
interface Place {
  readonly namespace_id: number
  readonly name: string
  readonly full_path: string
}

/** Which of a project's name and path another one bears already. `id` is the project's own; 0 for none yet. */
export async function takenBy(db: Db, id: number, place: Place): Promise<{ name: boolean; path: boolean }> {
  return (await db.one(taken, { ...place, id })) ?? { name: false, path: false }
}

/** Null keeps the value; a blank description clears it. */
export interface ProjectChanges {
  readonly name: string | null
  readonly path: string | null
  readonly description: string | null
  readonly visibility: Project['visibility'] | null
  readonly default_branch: string | null
  readonly readme_path: string | null
  readonly clears_avatar: boolean
  readonly topics: readonly string[] | null
  readonly repository_access_level: Project['repository_access_level'] | null
  /** JSON. */
  readonly settings: string
}
const change = statement(
  (p: Slots<ProjectChanges & { id: number }>) => sql<Project>`
    update projects p
       set name = coalesce(${p.name}, p.name), path = coalesce(${p.path}, p.path),
           full_path = n.full_path || '/' || coalesce(${p.path}, p.path),
           description = nullif(coalesce(${p.description}, p.description), ''),
           visibility = coalesce(${p.visibility}, p.visibility),
           default_branch = coalesce(${p.default_branch}, p.default_branch),
           readme_path = coalesce(${p.readme_path}, p.readme_path),
           avatar_url = case when ${p.clears_avatar} then null else p.avatar_url end,
           topics = coalesce(${p.topics}::text[], p.topics),
           repository_access_level = coalesce(${p.repository_access_level}, p.repository_access_level),
           settings = p.settings || ${p.settings}::jsonb, updated_at = now()
      from namespaces n
     where p.id = ${p.id} and n.id = p.namespace_id
    returning p.*`,
)
/** Violates as `create` of the core does. */
export const update = (db: Db, id: number, changes: ProjectChanges): Promise<Project> =>
  db.update(change, { ...changes, id })

const setArchived = statement((p: Slots<{ id: number; archived: boolean }>) =>
  q
    .updateTable('projects')
    .set({ archived: p.archived, updated_at: sql`now()` })
    .where('id', '=', p.id),
)
export const archive = (db: Db, id: number, archived: boolean): Promise<number> =>
  db.run(setArchived, { id, archived })

const addStar = statement(
  (p: Slots<{ id: number; user_id: number }>) => sql`
    with made as (
      insert into project_stars (user_id, project_id) values (${p.user_id}, ${p.id}) on conflict do nothing
      returning project_id)
    update projects set star_count = star_count + 1 where id in (select project_id from made)`,
)
const removeStar = statement(
  (p: Slots<{ id: number; user_id: number }>) => sql`
    with gone as (
      delete from project_stars where user_id = ${p.user_id} and project_id = ${p.id} returning project_id)
    update projects set star_count = greatest(star_count - 1, 0) where id in (select project_id from gone)`,
)

/** Whether this changed anything. */
export const star = async (db: Db, id: number, userId: number): Promise<boolean> =>
  (await db.run(addStar, { id, user_id: userId })) > 0
/** Whether this changed anything. */
export const unstar = async (db: Db, id: number, userId: number): Promise<boolean> =>
  (await db.run(removeStar, { id, user_id: userId })) > 0

interface Owner {
  readonly id: number
  readonly namespace_id: number
  readonly full_path: string
}
const owner = statement(
  (p: Slots<{ id: number; username: string }>) => sql<Owner>`
    select u.id, n.id as namespace_id, n.full_path from users u join namespaces n on n.owner_id = u.id
     where u.id = ${p.id} or lower(u.username) = lower(${p.username}) order by u.id = ${p.id} desc limit 1`,
)
/** A user with a personal namespace, by id or by name. */
export const findOwner = (db: Db, ref: string): Promise<Owner | undefined> =>
  db.one(owner, { id: /^\d{1,15}$/.test(ref) ? Number(ref) : 0, username: ref })
