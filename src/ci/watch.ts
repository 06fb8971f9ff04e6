import { sql } from 'kysely'
import type { Db } from '../db/db.ts'
import { statement, type Slots } from '../db/statement.ts'
import { FOLLOWING } from './downstream/mirroring.ts'
import { expireArtifacts } from './jobs/artifacts.ts'
import { applyEnvironmentTimes } from './environments/environments.ts'
import { finishJob, returnJob } from './jobs/actions.ts'
import { enqueued } from './processing.ts'
import { inTurn } from './turn.ts'

// Timeouts and delays. They are read from the jobs' rows, so that a process that dies loses none.

/** Milliseconds between two rounds. */
const ROUND = 1_000
/** Milliseconds between two looks for expired artifacts and environments. */
const EXPIRY = 60_000
/** Jobs that one round looks at, of each kind. */
const BATCH = 200

export interface Patience {
  /** Seconds that a runner may be silent before it has lost its job. */
  readonly lease: number
  /** Seconds after which a job returns to the queue whose runner never said a word of it. */
  readonly handover: number
  /** Seconds that a job may run past its timeout: runners end it themselves. */
  readonly grace: number
  /** Seconds that a job may wait for a runner. */
  readonly pending: number
}
export const PATIENCE: Patience = { lease: 300, handover: 60, grace: 120, pending: 86_400 }

interface Due {
  readonly id: number
  readonly project_id: number
}
const scheduled = statement(
  () => sql<Due & { has_resource_group: boolean }>`
    select id, project_id, resource_group_id is not null as has_resource_group from ci_jobs
     where status = 'scheduled' and scheduled_at <= clock_timestamp() order by scheduled_at limit ${sql.lit(BATCH)}`,
)
const lost = statement(
  (p: Slots<Patience>) => sql<Due & { reason: string }>`
    select id, project_id,
           case when coalesce(contacted_at, started_at) < clock_timestamp() - make_interval(secs => ${p.lease}::float)
                then 'stuck_or_timeout_failure' else 'job_execution_timeout' end as reason
      from ci_jobs
     where status in ('running', 'canceling') and kind = 'build'
       and (coalesce(contacted_at, started_at) < clock_timestamp() - make_interval(secs => ${p.lease}::float)
            or started_at < clock_timestamp() - make_interval(secs => timeout + ${p.grace}::float))
     order by contacted_at limit ${sql.lit(BATCH)}`,
)
// The answer with the job may never have reached its runner: the server or the connection died.
const unheard = statement(
  (p: Slots<{ handover: number }>) => sql<Due>`
    select id, project_id from ci_jobs
     where status = 'running' and kind = 'build' and contacted_at is null
       and started_at < clock_timestamp() - make_interval(secs => ${p.handover}::float)
     order by id limit ${sql.lit(BATCH)}`,
)
const stale = statement(
  (p: Slots<{ pending: number }>) => sql<Due>`
    select id, project_id from ci_jobs
     where status = 'pending' and (kind = 'build' or downstream_id is null)
       and queued_at < clock_timestamp() - make_interval(secs => ${p.pending}::float)
     order by queued_at limit ${sql.lit(BATCH)}`,
)
// The downstream pipeline, or its project, was deleted.
const orphaned = statement(
  () => sql<Due>`
    select id, project_id from ci_jobs
     where kind = 'bridge' and status in ('pending', 'running', 'canceling', 'manual', 'scheduled')
       and started_at is not null and downstream_id is null
     order by id limit ${sql.lit(BATCH)}`,
)
const stillLost = statement(
  (p: Slots<Patience & { id: number }>) => sql<{ id: number }>`
    select id from ci_jobs
     where id = ${p.id} and status in ('running', 'canceling')
       and (coalesce(contacted_at, started_at) < clock_timestamp() - make_interval(secs => ${p.lease}::float)
            or started_at < clock_timestamp() - make_interval(secs => timeout + ${p.grace}::float))`,
)

/** Starts delayed jobs whose time has come, and fails those whose runner or whose patience is gone. How many. */
export async function applyTime(db: Db, patience: Patience = PATIENCE): Promise<number> {
  let changed = 0
  for (const { id, project_id, has_resource_group } of await db.rows(scheduled, {}))
    changed += await db.transaction((tx) =>
      inTurn(tx, project_id, async (turn) => {
        const to = enqueued({ has_resource_group })
        return (await turn.enter([id], ['scheduled'], to)).length
      }),
    )
  for (const { id, project_id } of await db.rows(unheard, patience))
    changed += await db.transaction((tx) =>
      inTurn(tx, project_id, async (turn) => ((await returnJob(turn, id)) ? 1 : 0)),
    )
  for (const { id, project_id, reason } of await db.rows(lost, patience))
    changed += await db.transaction((tx) =>
      inTurn(tx, project_id, async (turn) => {
        // The runner may have been heard of while this waited for its turn.
        if ((await tx.one(stillLost, { ...patience, id })) === undefined) return 0
        return (await finishJob(turn, id, { status: 'failed', failure_reason: reason })) ? 1 : 0
      }),
    )
  for (const { id, project_id } of await db.rows(orphaned, {}))
    changed += await db.transaction((tx) =>
      inTurn(tx, project_id, async (turn) => (await turn.enter([id], FOLLOWING, 'failed', {})).length),
    )
  for (const { id, project_id } of await db.rows(stale, patience))
    changed += await db.transaction((tx) =>
      inTurn(tx, project_id, async (turn) => {
        const cause = { reason: 'stuck_or_timeout_failure' }
        return (await turn.enter([id], ['pending'], 'failed', cause)).length
      }),
    )
  return changed
}

/** The patience with runners that may be silent for so many seconds. */
export const patienceOf = (lease: number): Patience => ({
  ...PATIENCE,
  lease,
  handover: Math.min(PATIENCE.handover, lease),
})

/** Does a round each second until it is stopped by calling what it returns. Never throws. */
export function watchJobs(
  db: Db,
  say: (detail: object, text: string) => void,
  patience: Patience = PATIENCE,
): () => void {
  let isBusy = false
  let expired = 0
  const round = async (): Promise<void> => {
    if (isBusy) return
    isBusy = true
    try {
      await applyTime(db, patience)
      if (Date.now() - expired > EXPIRY) {
        expired = Date.now()
        await expireArtifacts(db)
        await applyEnvironmentTimes(db)
      }
    } catch (error) {
      say({ err: error }, 'jobs could not be looked through')
    } finally {
      isBusy = false
    }
  }
  const clock = setInterval(() => void round(), ROUND)
  clock.unref()
  return () => clearInterval(clock)
}
