import { sql } from 'kysely'
import type { Db } from '../db/db.ts'
import { statement, type Slots } from '../db/statement.ts'
import type { Instance } from '../instance.ts'

/**
 * Work done after the request that caused it, and retried until it succeeds. A process that is killed leaves a job half
 * done, and another runs it again: what must happen once stands in a transaction that asks `once` first.
 */
export interface Job<Payload extends object> {
  readonly name: string
  /** Enqueued once an hour by one of the processes that share the queue. */
  readonly hourly?: true
  /** May take minutes: runs in slots of its own, so that quick jobs do not wait for it. */
  readonly slow?: true
  /** Waits for servers elsewhere: runs in slots of its own, so that no other job waits for them. */
  readonly outbound?: true
  readonly run: (instance: Instance, payload: Payload, once?: Once) => Promise<void>
}
export type AnyJob = Job<never>

/** True the first time that this job commits a transaction with this step, false in every later run. */
export type Once = (tx: Db, step: string) => Promise<boolean>
/** For a job that runs outside of the queue. */
export const everyTime: Once = async () => true

const addJob = statement(
  (p: Slots<{ name: string; payload: string; key: string | null }>) => sql`
    select graphile_worker.add_job(${p.name}, ${p.payload}::json, job_key => ${p.key}, max_attempts => 12)`,
)

/**
 * Asks for a job. Inside a transaction the job lives or dies with it. Jobs with the same `key` that still wait are one.
 */
export async function enqueue<Payload extends object>(
  db: Db,
  job: Pick<Job<Payload>, 'name'>,
  payload: Payload,
  key?: string,
): Promise<void> {
  await db.run(addJob, { name: job.name, payload: JSON.stringify(payload), key: key ?? null })
}

/** A job and its payload, to be asked for with others. */
export interface Wanted {
  readonly name: string
  readonly payload: string
}
export const wanted = <Payload extends object>(
  job: Pick<Job<Payload>, 'name'>,
  payload: Payload,
): Wanted => ({
  name: job.name,
  payload: JSON.stringify(payload),
})

const addJobAt = statement(
  (p: Slots<{ name: string; payload: string; key: string; at: Date }>) => sql`
    select graphile_worker.add_job(${p.name}, ${p.payload}::json, job_key => ${p.key}, run_at => ${p.at}::timestamptz,
                                   max_attempts => 12)`,
)

/** Asks for a job not before `at`. One with the same `key` that still waits is replaced. */
export async function enqueueAt<Payload extends object>(
  db: Db,
  job: Pick<Job<Payload>, 'name'>,
  payload: Payload,
  { key, at }: { readonly key: string; readonly at: Date },
): Promise<void> {
  await db.run(addJobAt, { name: job.name, payload: JSON.stringify(payload), key, at })
}

const addJobs = statement(
  (p: Slots<{ name: string; payloads: readonly string[]; keys: readonly string[] }>) => sql`
    select graphile_worker.add_job(${p.name}, wanted.payload::json, job_key => wanted.key, max_attempts => 12)
      from unnest(${p.payloads}::text[], ${p.keys}::text[]) as wanted (payload, key)`,
)

/** Asks for one job many times over, by one statement. */
export async function enqueueAll<Payload extends object>(
  db: Db,
  job: Pick<Job<Payload>, 'name'>,
  wanted: readonly { readonly payload: Payload; readonly key: string }[],
): Promise<void> {
  if (wanted.length === 0) return
  await db.run(addJobs, {
    name: job.name,
    payloads: wanted.map(({ payload }) => JSON.stringify(payload)),
    keys: wanted.map(({ key }) => key),
  })
}
