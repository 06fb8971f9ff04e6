import { sql } from 'kysely'
import { ROLES, heldBy, roleInProject } from '../../core/sight/roles.ts'
import type { Db } from '../../db/db.ts'
import { paged, pageStatement, type Listed } from '../../db/pages.ts'
import { q, statement, type Slots } from '../../db/statement.ts'
import type { ProtectedBranchRow } from './entity.ts'

type Action = ProtectedBranchRow['levels'][number]['action']

const levels = sql`
  lateral (select coalesce(json_agg(json_build_object('id', g.id, 'action', g.action,
                      'access_level', g.access_level, 'user_id', g.user_id, 'user_name', u.name) order by g.id), '[]') as levels
             from protected_branch_levels g left join users u on u.id = g.user_id
            where g.protected_branch_id = b.id) l`

const listStatement = pageStatement(
  (p: Slots<{ project_id: number; search: string; limit: number; offset: number }>) => {
    const found = sql`b.project_id = ${p.project_id} and strpos(lower(b.name), lower(${p.search})) > 0`
    return paged(
      sql<ProtectedBranchRow>`select b.id, b.name, b.allow_force_push, l.levels from protected_branches b, ${levels}
        where ${found} order by b.name collate "C" limit ${p.limit} offset ${p.offset}`,
      sql`select from protected_branches b where ${found}`,
    )
  },
)
const findStatement = statement(
  (p: Slots<{ project_id: number; name: string }>) => sql<ProtectedBranchRow>`
    select b.id, b.name, b.allow_force_push, l.levels from protected_branches b, ${levels}
     where b.project_id = ${p.project_id} and b.name = ${p.name}`,
)
const insertStatement = statement(
  (p: Slots<{ project_id: number; name: string; allow_force_push: boolean }>) =>
    q
      .insertInto('protected_branches')
      .values({ project_id: p.project_id, name: p.name, allow_force_push: p.allow_force_push })
      .returning('id'),
)
const forceStatement = statement(
  (p: Slots<{ id: number; allow_force_push: boolean }>) => sql`
    update protected_branches set allow_force_push = ${p.allow_force_push}, updated_at = now() where id = ${p.id}`,
)
const removeStatement = statement((p: Slots<{ id: number }>) =>
  q.deleteFrom('protected_branches').where('id', '=', p.id),
)
const addLevels = statement(
  (p: Slots<{ id: number; action: Action; levels: number[] }>) => sql`
    insert into protected_branch_levels (protected_branch_id, action, access_level)
    select ${p.id}, ${p.action}, level from unnest(${p.levels}::smallint[]) with ordinality given (level, position)
     order by position
    on conflict (protected_branch_id, action, access_level) where user_id is null do nothing`,
)
// The level that the published interface shows of one user's.
const addUsers = statement(
  (p: Slots<{ id: number; action: Action; users: readonly number[] }>) => sql`
    insert into protected_branch_levels (protected_branch_id, action, access_level, user_id)
    select ${p.id}, ${p.action}, 40, u.id
      from unnest(${p.users}::bigint[]) with ordinality given (id, position) join users u on u.id = given.id
     order by position
    on conflict (protected_branch_id, action, user_id) where user_id is not null do nothing`,
)
const removeLevels = statement(
  (p: Slots<{ id: number; action: Action; ids: number[] }>) => sql`
    delete from protected_branch_levels
     where protected_branch_id = ${p.id} and action = ${p.action} and id = any(${p.ids}::bigint[])`,
)

const developers = statement(
  (p: Slots<{ project_id: number; users: readonly number[] }>) => sql<{ id: number }>`
    select u.id from projects p join namespaces n on n.id = p.namespace_id, users u
     where p.id = ${p.project_id} and u.id = any(${p.users}::bigint[])
       and ${roleInProject(heldBy(sql`u.id`), sql`p.id`, sql`n.traversal_ids`)} >= ${sql.lit(ROLES.developer)}`,
)
/** Whether all of them may write into the project. */
export const allWrite = async (db: Db, projectId: number, users: readonly number[]): Promise<boolean> =>
  (await db.rows(developers, { project_id: projectId, users })).length === new Set(users).size

export const find = (db: Db, projectId: number, name: string): Promise<ProtectedBranchRow | undefined> =>
  db.one(findStatement, { project_id: projectId, name })

export const list = (
  db: Db,
  query: { project_id: number; search: string; limit: number; offset: number },
): Promise<Listed<ProtectedBranchRow>> => db.page(listStatement, query)

/** Violates `protected_branches_name_key` when that name is protected in the project. Returns the id. */
export async function insert(
  db: Db,
  branch: { project_id: number; name: string; allow_force_push: boolean },
): Promise<number> {
  const row = await db.insert(insertStatement, branch)
  return row.id
}

export const setForcePush = (db: Db, id: number, allow_force_push: boolean): Promise<number> =>
  db.run(forceStatement, { id, allow_force_push })

export const remove = (db: Db, id: number): Promise<void> => db.remove(removeStatement, { id })

/** Changes of one action's levels: levels by number, users by id, removed ones by row id. */
export interface LevelChange {
  readonly action: Action
  readonly add: number[]
  readonly users: number[]
  readonly remove: number[]
}

export async function changeLevels(
  db: Db,
  id: number,
  { action, add, users, remove }: LevelChange,
): Promise<void> {
  if (remove.length > 0) await db.run(removeLevels, { id, action, ids: remove })
  if (add.length > 0) await db.run(addLevels, { id, action, levels: add })
  if (users.length > 0) await db.run(addUsers, { id, action, users })
}
