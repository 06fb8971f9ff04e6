import { sql } from 'kysely'
import { environmentSlug, guessTier } from '../../core/delivery/environments.ts'
import type { Db } from '../../db/db.ts'
import type { Environment } from '../../db/schema/delivery.ts'
import { q, statement, type Slots } from '../../db/statement.ts'
import type { PlannedJob } from '../config/plan.ts'
import { playJob } from '../jobs/actions.ts'
import { inTurn, type Turn } from '../turn.ts'

const keep = statement(
  (
    p: Slots<{
      project_id: number
      names: readonly string[]
      slugs: readonly string[]
      tiers: readonly string[]
    }>,
  ) => sql`
    insert into environments (project_id, name, slug, tier)
    select ${p.project_id}, * from unnest(${p.names}::text[], ${p.slugs}::text[], ${p.tiers}::text[])
    on conflict do nothing`,
)
/** Inserts the environments of planned jobs that the project does not have. */
export async function keepEnvironments(
  db: Db,
  project_id: number,
  planned: readonly Pick<PlannedJob, 'environment'>[],
): Promise<void> {
  const tiers = new Map<string, string>()
  for (const { environment } of planned)
    if (environment !== null && (environment.tier !== null || !tiers.has(environment.name)))
      tiers.set(environment.name, environment.tier ?? guessTier(environment.name))
  if (tiers.size === 0) return
  const names = [...tiers.keys()]
  await db.run(keep, { project_id, names, slugs: names.map(environmentSlug), tiers: [...tiers.values()] })
}

export interface Stopper {
  readonly id: number
  readonly user_id: number | null
  readonly ref: string
  readonly tag: boolean
}
// The manual job that the last successful deployment names, of its pipeline. One that ran before runs once more.
const stopper = statement(
  (p: Slots<{ id: number }>) => sql<Stopper>`
    select j.id, j.user_id, l.ref, l.tag
      from (select d.job_id from deployments d where d.environment_id = ${p.id} and d.status = 'success'
             order by d.finished_at desc, d.id desc limit 1) last
      join ci_jobs started on started.id = last.job_id
      join ci_job_specs spec on spec.id = started.spec_id
      join ci_jobs j on j.pipeline_id = started.pipeline_id and j.name = spec.environment->>'on_stop' and not j.retried
      join ci_job_specs own on own.id = j.spec_id
      join pipelines l on l.id = j.pipeline_id
     where own.run_when = 'manual' and j.status in ('manual', 'success', 'failed', 'canceled')`,
)
/** The job that stops an environment; undefined where none can be started. */
export const findStopper = async (db: Db, id: number): Promise<Stopper | undefined> => db.one(stopper, { id })

const setState = statement(
  (p: Slots<{ id: number; project_id: number; state: string; from: readonly string[] }>) => sql<Environment>`
    update environments set state = ${p.state}, auto_stop_at = null, updated_at = clock_timestamp()
     where id = ${p.id} and project_id = ${p.project_id} and state = any(${p.from}::text[]) returning *`,
)

export interface Stop {
  /** The user in whose name the stopping job runs; null for the user of that job. */
  readonly user_id: number | null
  /** Stops at once, without a job. */
  readonly force: boolean
}

/** Stops an environment: by its job, where it has one. An environment that stops or has stopped stays as it is. */
export async function stopEnvironment(turn: Turn, id: number, { user_id, force }: Stop): Promise<void> {
  const enter = (state: Environment['state'], from: readonly Environment['state'][]) =>
    turn.db.rows(setState, { id, project_id: turn.projectId, state, from })
  const job = force ? undefined : await findStopper(turn.db, id)
  const player = user_id ?? job?.user_id ?? null
  if (job === undefined || player === null)
    return void (await enter('stopped', force ? ['available', 'stopping'] : ['available']))
  if ((await enter('stopping', ['available'])).length === 0) return
  await playJob(turn, job.id, { user_id: player, variables: null })
}

const restart = statement(
  (p: Slots<{ id: number; project_id: number }>) => sql`
    update environments set state = 'available', auto_delete_at = null, updated_at = clock_timestamp()
     where id = ${p.id} and project_id = ${p.project_id}`,
)
/** An environment that something was deployed to is there. */
export const restartEnvironment = (turn: Turn, id: number): Promise<number> =>
  turn.db.run(restart, { id, project_id: turn.projectId })

/** Environments that one round looks at. */
const BATCH = 200
type Due = Pick<Environment, 'id' | 'project_id'>

const dueToStop = statement(
  () => sql<Due>`
    select id, project_id from environments where state = 'available' and auto_stop_at <= clock_timestamp()
     order by auto_stop_at limit ${sql.lit(BATCH)}`,
)
const isDue = statement((p: Slots<{ id: number }>) =>
  q
    .selectFrom('environments')
    .select('id')
    .where('id', '=', p.id)
    .where('state', '=', 'available')
    .where('auto_stop_at', '<=', sql<Date>`clock_timestamp()`),
)
const dueToGo = statement(
  () => sql<Due>`
    select id, project_id from environments where state = 'stopped' and auto_delete_at <= clock_timestamp()
     order by auto_delete_at limit ${sql.lit(BATCH)}`,
)
const remove = statement(
  (p: Slots<{ id: number }>) => sql`
    delete from environments where id = ${p.id} and state = 'stopped' and auto_delete_at <= clock_timestamp()`,
)

/** Stops and deletes the environments whose time has come. */
export async function applyEnvironmentTimes(db: Db): Promise<void> {
  for (const { id, project_id } of await db.rows(dueToStop, {}))
    await db.transaction((tx) =>
      inTurn(tx, project_id, async (turn) => {
        // A deployment may have set another time while this waited for its turn.
        if ((await tx.one(isDue, { id })) !== undefined)
          await stopEnvironment(turn, id, { user_id: null, force: false })
      }),
    )
  for (const { id, project_id } of await db.rows(dueToGo, {}))
    await db.transaction((tx) => inTurn(tx, project_id, () => tx.run(remove, { id })))
}
