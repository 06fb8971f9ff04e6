import { sql } from 'kysely'
import type { Db } from '../db/db.ts'
import { arraysOf, type Arrays } from '../db/schema/columns.ts'
import { statement, type Slots } from '../db/statement.ts'
import type { ErrorEvent } from './event.ts'

/** An event with the project that its key belongs to. */
export interface Collected extends ErrorEvent {
  readonly project_id: number
}

/** Events of one error whose payloads are all kept; of later ones one in ten is. All are counted. */
const KEPT_WHOLE = 1_000

const COLUMNS = [
  'project_id',
  'event_id',
  'fingerprint',
  'name',
  'description',
  'actor',
  'platform',
  'level',
  'release',
  'environment',
  'user_digest',
  'occurred_at',
  'payload',
] as const

/** Counts events on their errors, releases and users, and keeps their payloads; ordered, so that batches do not deadlock. */
const insertStatement = statement(
  (p: Slots<Arrays<Collected> & { received_on: string }>) => sql`
    with incoming as (
      select * from unnest(
        ${p.project_id}::bigint[], ${p.event_id}::text[], ${p.fingerprint}::bytea[], ${p.name}::text[],
        ${p.description}::text[], ${p.actor}::text[], ${p.platform}::text[], ${p.level}::text[], ${p.release}::text[],
        ${p.environment}::text[], ${p.user_digest}::bytea[], ${p.occurred_at}::timestamptz[], ${p.payload}::text[])
      as i (project_id, event_id, fingerprint, name, description, actor, platform, level, release, environment,
            user_digest, occurred_at, payload)),
    kinds as (
      insert into errors (project_id, fingerprint, name, description, actor, platform, level, events,
                          first_seen_at, last_seen_at)
      select project_id, fingerprint, max(name), max(description), max(actor), max(platform), max(level), count(*),
             min(occurred_at), max(occurred_at)
        from incoming group by project_id, fingerprint order by project_id, fingerprint
      on conflict (project_id, fingerprint) do update
         set events = errors.events + excluded.events, name = excluded.name, description = excluded.description,
             actor = excluded.actor, level = excluded.level,
             first_seen_at = least(errors.first_seen_at, excluded.first_seen_at),
             last_seen_at = greatest(errors.last_seen_at, excluded.last_seen_at),
             status = case when errors.status = 'resolved' then 'unresolved' else errors.status end
      returning id, project_id, fingerprint, events),
    known as (select k.id, k.events, i.* from incoming i join kinds k using (project_id, fingerprint)),
    releases as (
      insert into error_releases (error_id, release, events, first_seen_at, last_seen_at)
      select id, release, count(*), min(occurred_at), max(occurred_at)
        from known where release is not null group by id, release order by id, release
      on conflict (error_id, release) do update
         set events = error_releases.events + excluded.events,
             first_seen_at = least(error_releases.first_seen_at, excluded.first_seen_at),
             last_seen_at = greatest(error_releases.last_seen_at, excluded.last_seen_at)),
    users as (
      insert into error_users (error_id, digest)
      select distinct id, user_digest from known where user_digest is not null order by 1, 2
      on conflict do nothing)
    insert into error_events (error_id, event_id, received_on, occurred_at, release, environment, payload)
    select id, event_id, ${p.received_on}::date, occurred_at, release, environment, payload::json
      from known where events <= ${sql.lit(KEPT_WHOLE)} or left(md5(event_id), 2) < '1a'`,
)

/** Stores events in one transaction. */
export const insertEvents = (db: Db, events: readonly Collected[], receivedOn: string): Promise<number> =>
  db.run(insertStatement, { received_on: receivedOn, ...arraysOf(events, COLUMNS) })
