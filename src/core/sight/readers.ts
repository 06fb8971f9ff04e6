import { sql, type RawBuilder } from 'kysely'
import type { Db } from '../../db/db.ts'
import { statement, type Slots } from '../../db/statement.ts'
import { ROLES, heldBy, roleInProject } from './roles.ts'

interface Readable {
  readonly id: number
  readonly project_id: number
  /** The ids of the project's namespaces, from the root down. */
  readonly line: readonly number[]
  readonly confidential: boolean
}

/** Whether the user `u` is the author or an assignee of the issue. */
const owns = (id: RawBuilder<number>): RawBuilder<boolean> => sql`(
  exists (select from issues i where i.id = ${id} and i.author_id = u.id)
  or exists (select from issue_assignees a where a.issue_id = ${id} and a.user_id = u.id))`
const held = roleInProject(heldBy(sql`u.id`), sql`p.id`, sql`line.ids`)
const find = statement(
  (p: Slots<Readable & { user_ids: readonly number[] }>) => sql<{ id: number; username: string }>`
    select u.id, u.username
      from users u, projects p, (select ${p.line}::bigint[] as ids) line, lateral (select ${held} as role offset 0) holds
     where p.id = ${p.project_id} and u.id = any(${p.user_ids}::bigint[]) and u.state = 'active'
       and (u.admin
            or (holds.role >= ${sql.lit(ROLES.guest)} or p.visibility = 'public'
                or p.visibility = 'internal' and not u.external)
               and (not ${p.confidential}::boolean or holds.role >= ${sql.lit(ROLES.planner)} or ${owns(p.id)}))
     order by u.id`,
)

/** Those of the users who can see an issue, as confidential as it is to be. */
export const readersAmong = async (
  db: Db,
  userIds: readonly number[],
  where: Readable,
): Promise<{ id: number; username: string }[]> =>
  userIds.length === 0 ? [] : db.rows(find, { ...where, user_ids: userIds })
