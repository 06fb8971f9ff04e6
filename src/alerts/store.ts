import { sql } from 'kysely'
import type { Db } from '../db/db.ts'
import { arraysOf, type Arrays } from '../db/schema/columns.ts'
import type { AlertSeverity } from '../db/schema/alerts.ts'
import { statement, type Slots } from '../db/statement.ts'

/** The effect of an event on its alert. */
export interface Taken {
  readonly id: number
  readonly iid: number
  readonly title: string
  readonly issue_id: number | null
}

/** Firings with one fingerprint; `events` counts them, and the first says what a new alert is made of. */
export interface Firing {
  readonly project_id: number
  readonly integration_id: number
  readonly title: string
  readonly description: string | null
  readonly service: string | null
  readonly monitoring_tool: string | null
  /** A JSON array: arrays inside an array would be one. */
  readonly hosts: string
  readonly severity: AlertSeverity
  readonly environment: string | null
  readonly fingerprint: Buffer | null
  readonly started_at: Date
  readonly ended_at: Date | null
  readonly payload: string
  readonly events: number
}

export interface Resolution {
  readonly project_id: number
  readonly fingerprint: Buffer | null
  readonly ended_at: Date
}

/** `n` numbers the arguments from 1. */
type Numbered = Taken & { readonly n: number }

/** The unresolved alerts with the fingerprints in `incoming`, locked in one order, so that processes do not deadlock. */
const LOCKED = sql`
  select a.id, i.n from incoming i
    join alerts a on a.project_id = i.project_id and a.fingerprint = i.fingerprint and a.status <> 'resolved'
   order by a.id for update of a`

/**
 * Counts events of unresolved alerts and inserts new ones; a fingerprint stands in `incoming` once. When two processes
 * insert the same fingerprint, the loser counts its events and the iid that it drew stays unused.
 */
const fireStatement = statement(
  (p: Slots<Arrays<Firing>>) => sql<Numbered>`
    with incoming as (
      select * from unnest(
        ${p.project_id}::bigint[], ${p.integration_id}::bigint[], ${p.title}::text[], ${p.description}::text[],
        ${p.service}::text[], ${p.monitoring_tool}::text[], ${p.hosts}::jsonb[], ${p.severity}::text[],
        ${p.environment}::text[], ${p.fingerprint}::bytea[], ${p.started_at}::timestamptz[],
        ${p.ended_at}::timestamptz[], ${p.payload}::text[], ${p.events}::bigint[]) with ordinality
      as i (project_id, integration_id, title, description, service, monitoring_tool, hosts, severity, environment,
            fingerprint, started_at, ended_at, payload, events, n)),
    locked as (${LOCKED}),
    counted as (
      update alerts a set events = a.events + i.events, updated_at = now()
        from locked join incoming i using (n) where a.id = locked.id
      returning i.n, a.id, a.iid, a.title, a.issue_id),
    fresh as (
      select *, row_number() over (partition by project_id order by n) as place
        from incoming where n not in (select n from locked)),
    drawn as (
      insert into project_counters (project_id, counts, last)
      select project_id, 'alerts', count(*) from fresh group by project_id order by project_id
      on conflict (project_id, counts) do update set last = project_counters.last + excluded.last
      returning project_id, last),
    placed as (
      select fresh.*, last - count(*) over (partition by project_id) + place as iid from fresh join drawn using (project_id)),
    inserted as (
      insert into alerts (project_id, iid, integration_id, title, description, service, monitoring_tool, hosts,
                          severity, environment, fingerprint, started_at, ended_at, payload, events)
      select project_id, iid, integration_id, title, description, service, monitoring_tool,
             array(select jsonb_array_elements_text(hosts)),
             severity, environment, fingerprint, started_at, ended_at, payload::json, events
        from placed order by project_id, fingerprint, n
      on conflict (project_id, fingerprint) where status <> 'resolved'
      do update set events = alerts.events + excluded.events, updated_at = now()
      returning project_id, fingerprint, id, iid, title, issue_id)
    select * from counted
    union all
    select p.n, i.id, i.iid, i.title, i.issue_id from inserted i join placed p
        on p.project_id = i.project_id and (p.fingerprint = i.fingerprint or p.fingerprint is null and p.iid = i.iid)`,
)

const FIRING = [
  'project_id',
  'integration_id',
  'title',
  'description',
  'service',
  'monitoring_tool',
  'hosts',
  'severity',
  'environment',
  'fingerprint',
  'started_at',
  'ended_at',
  'payload',
  'events',
] as const

const inOrder = (count: number, taken: readonly Numbered[]): (Taken | undefined)[] => {
  const byNumber = new Map(taken.map((one) => [one.n, one]))
  return Array.from({ length: count }, (_, i) => byNumber.get(i + 1))
}

/** Raises alerts, or counts events of the unresolved ones that have their fingerprints. No fingerprint stands here twice. */
export async function fire(db: Db, firings: readonly Firing[]): Promise<Taken[]> {
  const taken = inOrder(firings.length, await db.rows(fireStatement, arraysOf(firings, FIRING)))
  return taken.map((one) => {
    if (one === undefined) throw new Error('an alert was neither counted nor inserted')
    return one
  })
}

const resolveStatement = statement(
  (p: Slots<Arrays<Resolution>>) => sql<Numbered>`
    with incoming as (
      select * from unnest(${p.project_id}::bigint[], ${p.fingerprint}::bytea[], ${p.ended_at}::timestamptz[])
        with ordinality as i (project_id, fingerprint, ended_at, n)),
    locked as (${LOCKED})
    update alerts a set status = 'resolved', ended_at = i.ended_at, updated_at = now()
      from locked join incoming i using (n) where a.id = locked.id
    returning i.n, a.id, a.iid, a.title, a.issue_id`,
)

/** Resolves the unresolved alerts with these fingerprints, of which none stands here twice; undefined where there is none. */
export const resolve = async (db: Db, resolutions: readonly Resolution[]): Promise<(Taken | undefined)[]> =>
  inOrder(
    resolutions.length,
    await db.rows(resolveStatement, arraysOf(resolutions, ['project_id', 'fingerprint', 'ended_at'])),
  )
