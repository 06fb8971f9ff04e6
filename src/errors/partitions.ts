import { sql } from 'kysely'
import type { Settings } from '../core/settings/settings.ts'
import type { Db } from '../db/db.ts'
import { statement } from '../db/statement.ts'
import type { Job } from '../jobs/job.ts'

// Events lie in one partition per day of their arrival, in UTC.

const DAY = 86_400_000
const dayOf = (moment: Date): string => moment.toISOString().slice(0, 10)
const nameOf = (day: string): string => `error_events_${day.replaceAll('-', '')}`

const known = new WeakMap<Db, Set<string>>()

/** Makes the partition of a day unless it is there, and returns the day. */
export async function ensurePartition(db: Db, now: Date): Promise<string> {
  const day = dayOf(now)
  const days = known.get(db) ?? new Set()
  known.set(db, days)
  if (days.has(day)) return day
  const next = dayOf(new Date(now.getTime() + DAY))
  // The lock lets one process at a time make partitions: two at once would deadlock.
  await db.script(`begin; select pg_advisory_xact_lock(7163023);
    create table if not exists ${nameOf(day)} partition of error_events for values from ('${day}') to ('${next}');
    commit`)
  days.add(day)
  return day
}

/** Looks anew which partitions there are: one may have been dropped by another process. */
export const forgetPartitions = (db: Db): void => void known.delete(db)

const partitions = statement(
  () => sql<{ name: string }>`
    select c.relname as name from pg_inherits i join pg_class c on c.oid = i.inhrelid
     where i.inhparent = 'error_events'::regclass order by 1`,
)

/** Drops the days that are older than the retention. Returns their names. */
export async function dropOldPartitions(db: Db, settings: Settings, now: Date): Promise<string[]> {
  const days = settings.get('error_tracking_retention_days')
  const oldest = nameOf(dayOf(new Date(now.getTime() - days * DAY)))
  const old = (await db.rows(partitions, {})).map(({ name }) => name).filter((name) => name < oldest)
  for (const name of old) await db.script(`drop table if exists ${name}`)
  return old
}

export const pruneErrorEvents: Job<object> = {
  name: 'prune_error_events',
  hourly: true,
  run: async ({ db, settings }) => void (await dropOldPartitions(db, settings, new Date())),
}
