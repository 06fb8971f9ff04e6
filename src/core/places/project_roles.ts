import { sql } from 'kysely'
import type { Db } from '../../db/db.ts'
import { statement, type Slots } from '../../db/statement.ts'
import type { Project } from './projects.ts'
import { heldBy, roleInNamespace, roleInProject } from '../sight/roles.ts'

const inProject = statement(
  (p: Slots<{ project_id: number; user_id: number | null }>) => sql<Project>`
    select p.*, n.traversal_ids,
           coalesce(${roleInProject(heldBy(p.user_id), sql`p.id`, sql`n.traversal_ids`)}, 0) as role
      from projects p join namespaces n on n.id = p.namespace_id where p.id = ${p.project_id}`,
)
/** A project with the role that a user holds on it now, whether or not the user sees it. */
export const findProjectAs = (
  db: Db,
  projectId: number,
  userId: number | null,
): Promise<Project | undefined> => db.one(inProject, { project_id: projectId, user_id: userId })

const several = statement(
  (p: Slots<{ ids: readonly number[]; user_id: number | null }>) => sql<Project>`
    select p.*, n.traversal_ids,
           coalesce(${roleInProject(heldBy(p.user_id), sql`p.id`, sql`n.traversal_ids`)}, 0) as role
      from projects p join namespaces n on n.id = p.namespace_id where p.id = any(${p.ids}::bigint[])`,
)
/** The same of several projects. */
export const findProjectsAs = (db: Db, ids: readonly number[], userId: number | null): Promise<Project[]> =>
  db.rows(several, { ids, user_id: userId })

const inGroup = statement(
  (p: Slots<{ group_id: number; user_id: number }>) => sql<{ id: number; role: number }>`
    select n.id, coalesce(${roleInNamespace(heldBy(p.user_id), sql`n.traversal_ids`)}, 0) as role
      from namespaces n where n.id = ${p.group_id} and n.kind = 'group'`,
)
/** The role that a user holds on a group now; undefined where there is no such group. */
export const roleOnGroup = async (db: Db, groupId: number, userId: number): Promise<number | undefined> =>
  (await db.one(inGroup, { group_id: groupId, user_id: userId }))?.role
