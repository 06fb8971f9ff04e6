import { sql } from 'kysely'
import type { Db } from '../db/db.ts'
import { statement, type Slots } from '../db/statement.ts'

// The projects that a user put on the security dashboard.

type Key = { readonly user_id: number; readonly project_id: number }

const insertStatement = statement(
  (p: Slots<Key>) => sql`
    insert into security_dashboard_projects (user_id, project_id) values (${p.user_id}, ${p.project_id})
    on conflict do nothing`,
)
/** False where the project is there already. */
export const addToDashboard = async (db: Db, key: Key): Promise<boolean> =>
  (await db.run(insertStatement, key)) > 0

const removeStatement = statement(
  (p: Slots<Key>) => sql`
    delete from security_dashboard_projects where user_id = ${p.user_id} and project_id = ${p.project_id}`,
)
/** False where the project was not there. */
export const removeFromDashboard = async (db: Db, key: Key): Promise<boolean> =>
  (await db.run(removeStatement, key)) > 0

const listStatement = statement(
  (p: Slots<{ user_id: number }>) => sql<{ full_path: string }>`
    select p.full_path from security_dashboard_projects d join projects p on p.id = d.project_id
     where d.user_id = ${p.user_id} order by p.full_path`,
)
/** The full paths of the projects. */
export const listDashboard = async (db: Db, user_id: number): Promise<string[]> =>
  (await db.rows(listStatement, { user_id })).map(({ full_path }) => full_path)
