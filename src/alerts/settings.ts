import { sql } from 'kysely'
import type { Db } from '../db/db.ts'
import { statement, type Slots } from '../db/statement.ts'

/** Settings of a project for its alerts. */
export interface AlertSettings {
  readonly create_incidents: boolean
  readonly auto_close_incidents: boolean
  /** Markdown at the end of each incident's description. */
  readonly incident_template: string | null
}

const DEFAULTS: AlertSettings = {
  create_incidents: false,
  auto_close_incidents: true,
  incident_template: null,
}

const findStatement = statement(
  (p: Slots<{ project_id: number }>) => sql<AlertSettings>`
    select create_incidents, auto_close_incidents, incident_template from alert_settings
     where project_id = ${p.project_id}`,
)
export const find = async (db: Db, projectId: number): Promise<AlertSettings> =>
  (await db.one(findStatement, { project_id: projectId })) ?? DEFAULTS

const saveStatement = statement(
  (p: Slots<AlertSettings & { project_id: number }>) => sql`
    insert into alert_settings (project_id, create_incidents, auto_close_incidents, incident_template)
    values (${p.project_id}, ${p.create_incidents}, ${p.auto_close_incidents}, ${p.incident_template})
    on conflict (project_id) do update
       set create_incidents = excluded.create_incidents, auto_close_incidents = excluded.auto_close_incidents,
           incident_template = excluded.incident_template`,
)
export const save = (db: Db, projectId: number, settings: AlertSettings): Promise<number> =>
  db.run(saveStatement, { ...settings, project_id: projectId })
