import { sql } from 'kysely'
import type { Db } from '../../../db/db.ts'
import type { Project } from '../../../db/schema/tables.ts'
import { statement, type Slots } from '../../../db/statement.ts'
import { authorJson, type Author } from '../../../records/people/user.ts'

interface Approval {
  readonly user: Author
  readonly approved_at: Date
}

const list = statement(
  (p: Slots<{ id: number }>) => sql<Approval>`
    select ${authorJson(sql`a.user_id`)} as user, a.created_at as approved_at
      from merge_request_approvals a where a.merge_request_id = ${p.id} order by a.created_at, a.user_id`,
)
export const approvalsOf = (db: Db, id: number): Promise<Approval[]> => db.rows(list, { id })

const merge = statement(
  (p: Slots<{ id: number; settings: string }>) => sql<Pick<Project, 'settings'>>`
    update projects set settings = settings || ${p.settings}::jsonb, updated_at = now()
     where id = ${p.id} returning settings`,
)
export const mergeSettings = (
  db: Db,
  id: number,
  settings: Readonly<Record<string, boolean>>,
): Promise<Pick<Project, 'settings'>> => db.update(merge, { id, settings: JSON.stringify(settings) })
