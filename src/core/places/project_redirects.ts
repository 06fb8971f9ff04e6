import { sql } from 'kysely'
import type { Db } from '../../db/db.ts'
import type { Visibility } from '../../db/schema/columns.ts'
import { statement, type Slots } from '../../db/statement.ts'
import { heldBy, roleInProject } from '../sight/roles.ts'

interface MovedProject {
  readonly id: number
  readonly visibility: Visibility
  /** The caller's role on it. */
  readonly role: number
}

const byOldPath = statement(
  (p: Slots<{ path: string; user_id: number | null }>) => sql<MovedProject>`
    select p.id, p.visibility, coalesce(${roleInProject(heldBy(p.user_id), sql`p.id`, sql`n.traversal_ids`)}, 0) as role
      from moved_projects m join projects p on p.id = m.project_id join namespaces n on n.id = p.namespace_id
     where m.path = lower(${p.path})`,
)

/** The project that stood at the full path before it was renamed or moved. */
export const findRedirect = (
  db: Db,
  path: string,
  userId: number | null,
): Promise<MovedProject | undefined> => db.one(byOldPath, { path, user_id: userId })
