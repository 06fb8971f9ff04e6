import { sql } from 'kysely'
import type { Db } from '../db/client.ts'
import type { AlertSeverity } from '../db/schema_alerts.ts'
import { statement, type Slots } from '../db/statement.ts'
import type { Incoming } from './values.ts'

/** The effect of an event on its alert. */
export interface Taken {
  readonly id: number
  readonly iid: number
  readonly title: string
  readonly created: boolean
  readonly issue_id: number | null
}

interface Event {
  readonly project_id: number
  readonly integration_id: number
  readonly title: string
  readonly description: string | null
  readonly service: string | null
  readonly monitoring_tool: string | null
  readonly hosts: readonly string[]
  readonly severity: AlertSeverity
  readonly environment: string | null
  readonly fingerprint: Buffer | null
  readonly started_at: Date
  readonly ended_at: Date | null
  readonly payload: string
}

/**
 * Counts an event of an unresolved alert, or inserts a new one. When two requests insert the same fingerprint, the loser
 * counts its event and the iid that it drew stays unused.
 */
const fireStatement = statement(
  (p: Slots<Event>) => sql<Taken>`
    with counted as (
      update alerts set events = events + 1, updated_at = now()
       where project_id = ${p.project_id} and fingerprint = ${p.fingerprint} and status <> 'resolved'
      returning id, iid, title, issue_id),
    drawn as (
      insert into project_counters (project_id, counts, last)
      select ${p.project_id}, 'alerts', 1 where not exists (select from counted)
      on conflict (project_id, counts) do update set last = project_counters.last + 1
      returning last),
    inserted as (
      insert into alerts (project_id, iid, integration_id, title, description, service, monitoring_tool, hosts,
                          severity, environment, fingerprint, started_at, ended_at, payload)
      select ${p.project_id}, last, ${p.integration_id}, ${p.title}, ${p.description}, ${p.service},
             ${p.monitoring_tool}, ${p.hosts}::text[], ${p.severity}, ${p.environment}, ${p.fingerprint},
             ${p.started_at}, ${p.ended_at}, ${p.payload}::json
        from drawn
      on conflict (project_id, fingerprint) where status <> 'resolved'
      do update set events = alerts.events + 1, updated_at = now()
      returning id, iid, title, issue_id, events = 1 as created)
    select id, iid, title, issue_id, false as created from counted
    union all select id, iid, title, issue_id, created from inserted`,
)

/** Raises an alert: a new one, or one more event of the unresolved alert with its fingerprint. */
export async function fire(
  db: Db,
  to: Pick<Event, 'project_id' | 'integration_id'>,
  { resolves: _resolves, ...item }: Incoming,
): Promise<Taken> {
  const [taken] = await db.rows(fireStatement, { ...to, ...item })
  if (taken === undefined) throw new Error('an alert was neither counted nor inserted')
  return taken
}

const resolveStatement = statement(
  (p: Slots<{ project_id: number; fingerprint: Buffer; ended_at: Date }>) => sql<Taken>`
    update alerts set status = 'resolved', ended_at = ${p.ended_at}, updated_at = now()
     where project_id = ${p.project_id} and fingerprint = ${p.fingerprint} and status <> 'resolved'
    returning id, iid, title, issue_id, false as created`,
)

/** Resolves the unresolved alert with a fingerprint; undefined when there is none. */
export const resolve = async (
  db: Db,
  projectId: number,
  fingerprint: Buffer,
  endedAt: Date,
): Promise<Taken | undefined> =>
  (await db.rows(resolveStatement, { project_id: projectId, fingerprint, ended_at: endedAt }))[0]
