import { sql } from 'kysely'
import { nextInProject } from '../core/values/counters.ts'
import { isSwitchedOn } from '../core/sight/features.ts'
import { findInternal } from '../core/people/internal_users.ts'
import { changeIssue } from '../core/planning/issue_changes.ts'
import { recordIssue } from '../core/planning/issue_events.ts'
import { insertIssue } from '../core/planning/issue_rows.ts'
import { hearDescription } from '../core/conversation/mentions.ts'
import type { Project } from '../core/places/projects.ts'
import { writeSystemNote } from '../core/conversation/system_notes.ts'
import type { Db } from '../db/db.ts'
import type { Alert } from '../db/schema/alerts.ts'
import { statement, type Slots } from '../db/statement.ts'
import type { Instance } from '../instance.ts'
import type { Job } from '../jobs/job.ts'
import { incidentDescription, incidentTitle } from './incident_text.ts'
import * as alertSettings from './settings.ts'

// The incident of an alert: an issue that the alert bot opens, and closes when the alert ends.

const findAlert = statement((p: Slots<{ id: number }>) => sql<Alert>`select * from alerts where id = ${p.id}`)
const lockAlert = statement(
  (p: Slots<{ id: number }>) => sql<Alert>`select * from alerts where id = ${p.id} for update`,
)
const findHome = statement(
  (p: Slots<{ id: number }>) => sql<Project>`
    select p.*, n.traversal_ids, 0 as role from projects p join namespaces n on n.id = p.namespace_id
     where p.id = ${p.id} and not p.archived and ${isSwitchedOn('issues')}`,
)
const linkIncident = statement(
  (p: Slots<{ id: number; issue_id: number; severity: Alert['severity'] }>) => sql`
    with linked as (update alerts set issue_id = ${p.issue_id}, updated_at = now() where id = ${p.id})
    update issues set severity = ${p.severity} where id = ${p.issue_id}`,
)

type Site = Pick<Instance, 'db' | 'config'>

/** An alert that gets no incident; the message says why. */
export class NoIncident extends Error {}

/**
 * Opens the incident of an alert and returns its iid. Call inside a transaction. Throws NoIncident. Only the project's
 * template notifies those that it mentions: the rest of the text comes from senders, and quick actions in it do nothing.
 */
export async function openIncident({ db, config }: Site, alertId: number): Promise<number> {
  const alert = await db.one(lockAlert, { id: alertId })
  const project = alert && (await db.one(findHome, { id: alert.project_id }))
  if (alert === undefined || project === undefined)
    throw new NoIncident('The project is archived, or its issues are switched off')
  if (alert.issue_id !== null) throw new NoIncident('An issue already exists')
  if (alert.status === 'resolved') throw new NoIncident('The alert is resolved')
  const { incident_template: template } = await alertSettings.find(db, project.id)
  const { id: author_id } = await findInternal(db, 'alert_bot')
  const iid = await nextInProject(db, project.id, 'issues')
  const url = `${config.url}/${project.full_path}/-/alert_management/${alert.iid}/details`
  const issue = await insertIssue(db, {
    project_id: project.id,
    iid,
    author_id,
    title: incidentTitle(alert, iid),
    description: incidentDescription(alert, { url, template }),
    issue_type: 'incident',
    confidential: false,
    created_at: null,
  })
  await db.run(linkIncident, { id: alert.id, issue_id: issue.id, severity: alert.severity })
  const about = {
    id: issue.id,
    kind: 'issue',
    iid,
    project_id: project.id,
    group_id: null,
    author_id,
    locked: false,
    confidential: false,
  } as const
  const actor = { id: author_id, admin: true, external: false }
  await recordIssue(db, issue, { action: 'open', author_id })
  await hearDescription({ db, actor, about, project }, template)
  return iid
}

/** Closes the incident of a resolved alert, unless it is closed, or was moved to another project. */
async function closeIncident(db: Db, { project_id, issue_id }: Alert): Promise<void> {
  const project = await db.one(findHome, { id: project_id })
  if (project === undefined || issue_id === null) return
  const { auto_close_incidents } = await alertSettings.find(db, project_id)
  if (!auto_close_incidents) return
  const actor = await findInternal(db, 'alert_bot')
  const deed = { db, actor, project, now: new Date(), quiet: true }
  if (!(await changeIssue(deed, issue_id, { state: 'closed' }))) return
  await writeSystemNote(db, {
    noteable_id: issue_id,
    author_id: actor.id,
    action: 'closed',
    body: 'automatically closed this incident because the alert resolved.',
  })
}

/** Brings the incident of an alert in line with the alert, as the settings of its project say. */
export const syncIncident: Job<{ alert_id: number }> = {
  name: 'sync_incident',
  run: ({ db, config }, { alert_id }) =>
    db.transaction(async (tx) => {
      // Not locked while an issue is closed: who closes an issue locks the issue first, and its alerts then.
      const alert = await tx.one(findAlert, { id: alert_id })
      if (alert === undefined) return
      if (alert.status === 'resolved') return closeIncident(tx, alert)
      const { create_incidents } = await alertSettings.find(tx, alert.project_id)
      if (!create_incidents) return
      await openIncident({ db: tx, config }, alert_id).catch((error: unknown) => {
        if (!(error instanceof NoIncident)) throw error
      })
    }),
}
