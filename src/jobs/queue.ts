import { sql } from 'kysely'
import { Logger, runMigrations } from 'graphile-worker'
import type { Client } from '../db/client.ts'
import { statement, type Slots } from '../db/statement.ts'

// The tables of the queue are those of graphile-worker, which also adds jobs (`add_job`). Jobs are taken and finished
// here: see docs/decisions/0065-jobs.md.

const quiet = new Logger(() => () => {})

/** Makes or upgrades the queue's tables. */
export const migrateQueue = (db: Client): Promise<void> => runMigrations({ pgPool: db.pool, logger: quiet })

/** Told of with each job that is added. */
export const ADDED = 'jobs:insert'

export interface Taken {
  readonly id: string
  readonly name: string
  readonly payload: object
}

/** Locks the next job that is due for a worker. */
export const take = statement(
  (p: Slots<{ worker: string; names: readonly string[] }>) => sql<Taken>`
    with next as (
      select j.id, t.identifier
        from graphile_worker._private_jobs j
        join graphile_worker._private_tasks t on t.id = j.task_id
       where j.is_available and j.run_at <= now() and t.identifier = any(${p.names}::text[])
       order by j.priority, j.run_at, j.id limit 1
         for update of j skip locked)
    update graphile_worker._private_jobs j
       set attempts = j.attempts + 1, locked_by = ${p.worker}, locked_at = now()
      from next where j.id = next.id
    returning j.id::text, next.identifier as name, j.payload`,
)

/** Removes a job that is done, with its steps. Does nothing the second time. */
export const finish = statement(
  (p: Slots<{ worker: string; id: string }>) => sql`
    with done as (
      delete from graphile_worker._private_jobs
       where id = ${p.id}::bigint and locked_by = ${p.worker} returning id)
    delete from job_steps s using done where s.job_id = done.id`,
)

/** Gives a job back that failed, due again after 1 s, 3 s, 7 s … 6 h. */
export const fail = statement(
  (p: Slots<{ worker: string; id: string; error: string }>) => sql`
    update graphile_worker._private_jobs
       set last_error = ${p.error}, locked_by = null, locked_at = null,
           run_at = greatest(now(), run_at) + exp(least(attempts, 10)) * interval '1 second'
     where id = ${p.id}::bigint and locked_by = ${p.worker}`,
)

/** Takes note of a step. Waits for a transaction that is taking note of the same. */
export const noteStep = statement(
  (p: Slots<{ id: string; step: string }>) => sql`
    insert into job_steps (job_id, step) values (${p.id}::bigint, ${p.step}) on conflict do nothing`,
)

/** First key of the advisory locks that are leases; the second is the worker's number. */
export const LEASES = 7_163_020

/** How `locked_by` names the worker with a lease. */
export const workerName = (lease: number): string => `guildhall-${lease}`

/** Workers that hold jobs and no lease. */
export const deadWorkers = statement(
  () => sql<{ worker: string }>`
    select distinct j.locked_by as worker from graphile_worker._private_jobs j
     where j.locked_at is not null
       and not exists (
         select from pg_locks l
          where l.locktype = 'advisory' and l.classid::bigint = ${sql.lit(LEASES)} and l.objsubid = 2 and l.granted
            and l.database = (select oid from pg_database where datname = current_database())
            and 'guildhall-' || l.objid = j.locked_by)`,
)

/** Gives the jobs of workers back, due at once. */
export const release = statement(
  (p: Slots<{ workers: readonly string[] }>) => sql`
    update graphile_worker._private_jobs
       set locked_by = null, locked_at = null, run_at = least(run_at, now())
     where locked_by = any(${p.workers}::text[])`,
)

/** Gives jobs back that this worker locked and never heard of: the connection broke before the answer. */
export const releaseUnheard = statement(
  (p: Slots<{ worker: string; running: readonly string[] }>) => sql`
    update graphile_worker._private_jobs
       set locked_by = null, locked_at = null
     where locked_by = ${p.worker} and id <> all(${p.running}::bigint[]) and locked_at < now() - interval '10 seconds'`,
)

/**
 * Enqueues hourly jobs for the hour that began a minute ago or longer, once among all processes. A minute past, so that a
 * new day has begun in the database too. A job that is new waits for the next hour.
 */
export const addHourly = statement(
  (p: Slots<{ names: readonly string[] }>) => sql`
    with due as (
      insert into graphile_worker._private_known_crontabs as known (identifier, known_since, last_execution)
      select wanted, now(), date_trunc('hour', now() - interval '1 minute')
        from unnest(${p.names}::text[]) as wanted
          on conflict (identifier) do update set last_execution = excluded.last_execution
       where known.last_execution is null or known.last_execution < excluded.last_execution
      returning identifier, xmax <> 0 as was_known)
    select graphile_worker.add_job(identifier, '{}'::json, job_key => identifier, max_attempts => 12)
      from due where was_known`,
)
