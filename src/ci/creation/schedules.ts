import { sql } from 'kysely'
import { nextTime, zoneOf } from '../../core/values/crons.ts'
import { findProjectAs } from '../../core/places/project_roles.ts'
import type { Project } from '../../core/places/projects.ts'
import * as users from '../../core/people/users.ts'
import type { Db } from '../../db/db.ts'
import type { User } from '../../db/schema/tables.ts'
import type { PipelineSchedule, PipelineScheduleVariable } from '../../db/schema/delivery.ts'
import { q, statement, type Slots } from '../../db/statement.ts'
import type { Instance } from '../../instance.ts'
import { enqueueAt, everyTime, type Job } from '../../jobs/job.ts'
import type { Variable } from '../config/plan.ts'
import { preparePipeline } from './creation.ts'
import type { PipelineRequest } from './pipeline_request.ts'
import { insertInTurn } from './pipeline_insertion.ts'
import { inTurn } from '../turn.ts'

/** Milliseconds between the starts of two runs of a schedule, at least. */
const MIN_INTERVAL = 600_000

type Timed = Pick<PipelineSchedule, 'cron' | 'cron_timezone'>

/**
 * The time of the next run after `now`, null where there is none. `due` is the time that the last run was due at: a cron
 * that fires too soon after it waits.
 */
export function nextRun({ cron, cron_timezone }: Timed, now: Date, due?: Date): Date | null {
  const next = nextTime(cron, zoneOf(cron_timezone) ?? 'UTC', now)
  if (next === undefined || due === undefined) return next ?? null
  return new Date(Math.max(next.getTime(), due.getTime() + MIN_INTERVAL))
}

/** Asks for the next run of a schedule, in the place of the one asked for before. */
export async function enqueueRun(
  db: Db,
  { id, active, next_run_at }: Pick<PipelineSchedule, 'id' | 'active' | 'next_run_at'>,
): Promise<void> {
  if (active && next_run_at !== null)
    await enqueueAt(db, runSchedule, { id }, { key: `pipeline_schedule:${id}`, at: next_run_at })
}

const byId = statement((p: Slots<{ id: number }>) =>
  q.selectFrom('pipeline_schedules').selectAll().where('id', '=', p.id),
)
const dueNow = statement(
  (p: Slots<{ id: number }>) => sql<PipelineSchedule & { next_run_at: Date; now: Date }>`
    select *, clock_timestamp() as now from pipeline_schedules
     where id = ${p.id} and active and next_run_at <= clock_timestamp()`,
)
const variablesOf = statement((p: Slots<{ id: number }>) =>
  q.selectFrom('pipeline_schedule_variables').selectAll().where('schedule_id', '=', p.id).orderBy('id'),
)
/** The variables of a schedule, by the order in which they were added. */
export const scheduleVariables = (db: Db, id: number): Promise<PipelineScheduleVariable[]> =>
  db.rows(variablesOf, { id })

async function variablesFor({ db, vault }: Pick<Instance, 'db' | 'vault'>, id: number): Promise<Variable[]> {
  const rows = await scheduleVariables(db, id)
  return rows.map(({ key, sealed_value, variable_type, raw }) => ({
    key,
    value: vault.open(sealed_value),
    ...(variable_type === 'file' && { file: true }),
    ...(raw && { raw }),
  }))
}

/** Pipelines of schedules run as the schedule's owner, with the rights held now. */
async function requestOf(
  instance: Instance,
  schedule: PipelineSchedule,
  { user, project }: { readonly user: User; readonly project: Project },
): Promise<PipelineRequest> {
  const variables = await variablesFor(instance, schedule.id)
  return { project, user, ref: schedule.ref, source: 'schedule', variables, schedule_id: schedule.id }
}

// Of several workers the first one advances the schedule; the others wait for its row, and find nothing due.
const claim = statement(
  (p: Slots<{ id: number; next_run_at: Date | null }>) => sql<PipelineSchedule>`
    update pipeline_schedules set next_run_at = ${p.next_run_at}
     where id = ${p.id} and active and next_run_at <= clock_timestamp() returning *`,
)
const deactivate = statement(
  (p: Slots<{ id: number; owner_id: number | null }>) => sql`
    update pipeline_schedules set active = false, updated_at = now()
     where id = ${p.id} and owner_id is not distinct from ${p.owner_id}::bigint`,
)

/** Starts the pipeline of a schedule that is due. A time that was missed is made up for once. */
export const runSchedule: Job<{ id: number }> = {
  name: 'run_pipeline_schedule',
  run: async (instance, { id }) => {
    const { db } = instance
    const schedule = await db.one(dueNow, { id })
    if (schedule === undefined) return
    const { owner_id, project_id, now } = schedule
    const owner = await ownerOf(db, schedule)
    if (owner === undefined) return void (await db.run(deactivate, { id, owner_id }))
    const outcome = await preparePipeline(instance, await requestOf(instance, schedule, owner))
    const next_run_at = nextRun(schedule, now, schedule.next_run_at)
    await db.transaction((tx) =>
      inTurn(tx, project_id, async (turn) => {
        const advanced = await tx.one(claim, { id, next_run_at })
        if (advanced === undefined) return
        await enqueueRun(tx, advanced)
        if ('prepared' in outcome) await insertInTurn(turn, instance.vault, outcome.prepared)
      }),
    )
  },
}

/** The owner with the project as the owner may use it; undefined for one who is gone, blocked or no member any more. */
async function ownerOf(
  db: Db,
  { owner_id, project_id }: PipelineSchedule,
): Promise<{ user: User; project: Project } | undefined> {
  const user = owner_id === null ? undefined : await users.find(db, owner_id)
  const project = await findProjectAs(db, project_id, owner_id)
  if (user?.state !== 'active' || project === undefined) return undefined
  return user.admin || project.role > 0 ? { user, project } : undefined
}

/** Starts the pipeline of a schedule at once, in the name of whoever asked for it. */
export const playSchedule: Job<{ id: number; user_id: number }> = {
  name: 'play_pipeline_schedule',
  run: async (instance, { id, user_id }, once = everyTime) => {
    const { db } = instance
    const schedule = await db.one(byId, { id })
    if (schedule === undefined) return
    const user = await users.find(db, user_id)
    const project = await findProjectAs(db, schedule.project_id, user_id)
    if (user === undefined || project === undefined) return
    const outcome = await preparePipeline(instance, await requestOf(instance, schedule, { user, project }))
    if ('refusal' in outcome) return
    await db.transaction((tx) =>
      inTurn(tx, project.id, async (turn) => {
        const isThere = (await tx.one(byId, { id })) !== undefined
        if (isThere && (await once(tx, 'play'))) await insertInTurn(turn, instance.vault, outcome.prepared)
      }),
    )
  },
}

const overdue = statement(
  () => sql<PipelineSchedule>`
    select * from pipeline_schedules where active and next_run_at < now() - interval '10 minutes'
     order by next_run_at limit 10000`,
)
/** Asks again for runs whose job was given up after many failures. */
export const resumeSchedules: Job<object> = {
  name: 'resume_pipeline_schedules',
  hourly: true,
  run: async ({ db }) => {
    for (const schedule of await db.rows(overdue, {})) await enqueueRun(db, schedule)
  },
}
