import { sql } from 'kysely'
import type { Db } from '../../db/db.ts'
import { statement, type Slots } from '../../db/statement.ts'
import type { Job } from '../../jobs/job.ts'
import { addIteration, type Cadence } from './iterations.ts'

// Automatic cadences: create iterations ahead of time and roll open issues over.

/** At one go; the next hour makes more where a cadence begins long ago. */
const MAX_NEW_ITERATIONS = 500
const DAY = 86_400_000

const hold = statement(
  (p: Slots<{ id: number }>) => sql<Cadence & { today: string; last_due: string | null }>`
    select c.*, today() as today,
           (select max(t.due_date) from iterations t where t.iterations_cadence_id = c.id) as last_due
      from iteration_cadences c where c.id = ${p.id} and c.automatic and c.active for update`,
)
const upcoming = statement(
  (p: Slots<{ id: number }>) => sql<{ count: number }>`
    select count(*)::int as count from iterations where iterations_cadence_id = ${p.id} and start_date > today()`,
)
const active = statement(
  () => sql<{ id: number }>`select id from iteration_cadences where automatic and active order by id`,
)

const after = (day: string, days: number): string =>
  new Date(Date.parse(`${day}T00:00:00Z`) + days * DAY).toISOString().slice(0, 10)

async function extend(db: Db, cadence: Cadence & { today: string; last_due: string | null }): Promise<void> {
  const { start_date, duration_in_weeks, iterations_in_advance, last_due, today } = cadence
  if (start_date === null || duration_in_weeks === null || iterations_in_advance === null) return
  let ahead = (await db.one(upcoming, { id: cadence.id }))?.count ?? 0
  let next = last_due === null ? start_date : after(last_due, 1)
  for (let made = 0; ahead < iterations_in_advance && made < MAX_NEW_ITERATIONS; made++) {
    const due_date = after(next, duration_in_weeks * 7 - 1)
    await addIteration(db, cadence, { title: null, description: null, start_date: next, due_date })
    if (next > today) ahead++
    next = after(due_date, 1)
  }
}

/** Every iteration that ended since the last time hands its open issues to the one that is now. */
const rollOver = statement(
  (p: Slots<{ id: number; since: string | null }>) => sql`
    with now_on as (
      select id from iterations
       where iterations_cadence_id = ${p.id} and start_date <= today() and due_date >= today()),
    ended as (
      select id from iterations
       where iterations_cadence_id = ${p.id} and due_date < today()
         and due_date >= coalesce(${p.since}::date, '-infinity')),
    moved as (
      update issues i set iteration_id = now_on.id, updated_at = now() from now_on
       where i.iteration_id in (select id from ended) and i.state = 'opened'
      returning i.id, i.iteration_id),
    told as (
      insert into resource_iteration_events (issue_id, iteration_id, action)
      select id, iteration_id, 'add' from moved order by id)
    update iteration_cadences set rolled_over_on = today() where id = ${p.id} and exists (select from now_on)`,
)

/** Does what is due in one cadence; a second time on the same day there is nothing left to do. Call inside a transaction. */
export async function scheduleCadence(db: Db, id: number): Promise<void> {
  // Concurrent runs wait here and then see the result.
  const cadence = await db.one(hold, { id })
  if (cadence === undefined) return
  await extend(db, cadence)
  if (cadence.roll_over) await db.run(rollOver, { id, since: cadence.rolled_over_on })
}

export const scheduleIterations: Job<Record<string, never>> = {
  name: 'schedule_iterations',
  hourly: true,
  run: async ({ db }) => {
    for (const { id } of await db.rows(active, {})) await db.transaction((tx) => scheduleCadence(tx, id))
  },
}
