import { sql } from 'kysely'
import type { Db } from '../db/db.ts'
import type { ErrorTrackingSetting } from '../db/schema/errors.ts'
import { statement, type Slots } from '../db/statement.ts'

const findStatement = statement(
  (p: Slots<{ project_id: number }>) =>
    sql<ErrorTrackingSetting>`select * from error_tracking_settings where project_id = ${p.project_id}`,
)

/** The settings of a project; undefined while nobody set them. */
export const find = (db: Db, projectId: number): Promise<ErrorTrackingSetting | undefined> =>
  db.one(findStatement, { project_id: projectId })

interface Values {
  readonly project_id: number
  readonly active: boolean
  readonly integrated: boolean
}
const saveStatement = statement(
  (p: Slots<Values>) => sql<ErrorTrackingSetting>`
    insert into error_tracking_settings (project_id, active, integrated)
    values (${p.project_id}, ${p.active}, ${p.integrated})
    on conflict (project_id) do update
       set active = excluded.active, integrated = excluded.integrated, updated_at = now()
    returning *`,
)

/** Creates the settings of a project or replaces them. */
export async function save(db: Db, values: Values): Promise<ErrorTrackingSetting> {
  return db.insert(saveStatement, values)
}
