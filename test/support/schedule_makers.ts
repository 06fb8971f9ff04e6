import { rowOf, rowsOf } from './rows.ts'
import type { World } from './world.ts'

export interface MadeSchedule {
  readonly id: number
  readonly next_run_at: Date | null
  readonly active: boolean
}

/** Inserts a schedule of the branch `ci`, due a minute ago unless told otherwise. */
export const makeSchedule = (
  world: World,
  project: { readonly id: number },
  given: {
    readonly owner_id: number | null
    readonly cron?: string
    readonly ref?: string
    readonly next_run_at?: Date
  },
): Promise<MadeSchedule> =>
  rowOf(
    world,
    `insert into pipeline_schedules (project_id, owner_id, description, ref, cron, cron_timezone, next_run_at)
     values ($1, $2, 'nightly', $3, $4, 'UTC', coalesce($5, now() - interval '1 minute')) returning *`,
    [
      project.id,
      given.owner_id,
      given.ref ?? 'refs/heads/ci',
      given.cron ?? '0 0 1 1 *',
      given.next_run_at ?? null,
    ],
  )

/** Queued jobs of a name, the oldest first, with the time that each is due. */
export const queuedJobs = (
  world: World,
  name: string,
): Promise<{ payload: { id: number; user_id?: number }; key: string | null; run_at: Date }[]> =>
  rowsOf(
    world,
    `select j.payload, j.key, j.run_at from graphile_worker._private_jobs j
       join graphile_worker._private_tasks t on t.id = j.task_id where t.identifier = $1 order by j.id`,
    [name],
  )
