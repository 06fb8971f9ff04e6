import { sql } from 'kysely'
import type { Db } from '../../db/db.ts'
import type { Iteration } from '../../db/schema/planning.ts'
import { q, statement, type Slots } from '../../db/statement.ts'
import { nextInGroup } from '../values/counters.ts'

// Cadences and the iterations that are made in them by hand; what is made by itself is in `iteration_schedule.ts`.

/** A rule of iterations that what was asked for breaks; the text says which. */
export class IterationFault extends Error {}

export interface Cadence {
  readonly id: number
  readonly group_id: number
  readonly title: string
  readonly automatic: boolean
  readonly active: boolean
  readonly roll_over: boolean
  readonly start_date: string | null
  readonly duration_in_weeks: number | null
  readonly iterations_in_advance: number | null
  readonly rolled_over_on: string | null
}

const holdGroup = statement(
  (p: Slots<{ id: number }>) => sql`select from namespaces where id = ${p.id} for no key update`,
)
const byTitle = statement(
  (p: Slots<{ group_id: number; title: string }>) => sql<Cadence>`
    select * from iteration_cadences where group_id = ${p.group_id} and title = ${p.title} for update`,
)
const firstByHand = statement(
  (p: Slots<{ group_id: number }>) => sql<Cadence>`
    select * from iteration_cadences where group_id = ${p.group_id} and not automatic order by id limit 1 for update`,
)
const insertCadence = statement(
  (p: Slots<NewCadence>) => sql<Cadence>`
    insert into iteration_cadences
      (group_id, title, automatic, roll_over, start_date, duration_in_weeks, iterations_in_advance)
    values (${p.group_id}, ${p.title}, ${p.automatic}, ${p.roll_over}, ${p.start_date}, ${p.duration_in_weeks},
            ${p.iterations_in_advance})
    returning *`,
)

export interface NewCadence {
  readonly group_id: number
  readonly title: string
  readonly automatic: boolean
  readonly roll_over: boolean
  readonly start_date: string | null
  readonly duration_in_weeks: number | null
  readonly iterations_in_advance: number | null
}

/** Violates `iteration_cadences_title_key` when the group has one of that title. */
export async function createCadence(db: Db, cadence: NewCadence): Promise<Cadence> {
  return db.insert(insertCadence, cadence)
}

interface Group {
  readonly id: number
  readonly name: string
}
const BY_HAND = {
  automatic: false,
  roll_over: false,
  start_date: null,
  duration_in_weeks: null,
  iterations_in_advance: null,
}

/** The cadence with that title, held until the transaction ends; without a title the group's first that is kept by hand. */
async function holdCadence(db: Db, group: Group, title: string | undefined): Promise<Cadence> {
  if (title !== undefined) {
    const found = await db.one(byTitle, { group_id: group.id, title })
    if (found === undefined) throw new IterationFault(`there is no cadence "${title}" in the group`)
    return found
  }
  await db.run(holdGroup, { id: group.id })
  const found = await db.one(firstByHand, { group_id: group.id })
  return (
    found ??
    createCadence(db, { ...BY_HAND, group_id: group.id, title: `${group.name} iterations`.slice(-255) })
  )
}

const overlapping = statement(
  (p: Slots<{ cadence: number; start_date: string; due_date: string }>) => sql<{ id: number }>`
    select id from iterations
     where iterations_cadence_id = ${p.cadence} and due_date >= ${p.start_date} and start_date <= ${p.due_date}
     limit 1`,
)
const insert = statement(
  (
    p: Slots<{
      iid: number
      group_id: number
      cadence: number
      title: string | null
      description: string | null
      start_date: string
      due_date: string
    }>,
  ) => sql<Iteration>`
    insert into iterations
      (iid, sequence, group_id, iterations_cadence_id, title, description, start_date, due_date)
    select ${p.iid}, coalesce(max(sequence), 0) + 1, ${p.group_id}, ${p.cadence}, ${p.title}, ${p.description},
           ${p.start_date}::date, ${p.due_date}::date
      from iterations where iterations_cadence_id = ${p.cadence}
    returning *`,
)
const placesOf = sql`(select id, row_number() over (partition by iterations_cadence_id order by start_date) as place
                        from iterations)`
// Two numbers may not be alike for a moment either, so all of them go out of the way first.
const clearPlaces = statement(
  (p: Slots<{ cadence: number }>) =>
    sql`update iterations set sequence = -sequence where iterations_cadence_id = ${p.cadence}`,
)
const setPlaces = statement(
  (p: Slots<{ cadence: number }>) => sql`
    update iterations t set sequence = o.place from ${placesOf} o
     where o.id = t.id and t.iterations_cadence_id = ${p.cadence}`,
)
const byId = statement((p: Slots<{ id: number }>) =>
  q.selectFrom('iterations').selectAll().where('id', '=', p.id),
)

export interface NewIteration {
  readonly title: string | null
  readonly description: string | null
  readonly start_date: string
  readonly due_date: string
}

/** One more iteration of a cadence that is held. Call inside a transaction. */
export async function addIteration(
  db: Db,
  { id: cadence, group_id }: Pick<Cadence, 'id' | 'group_id'>,
  iteration: NewIteration,
): Promise<Iteration> {
  const iid = await nextInGroup(db, group_id, 'iterations')
  return db.insert(insert, { iid, group_id, cadence, ...iteration })
}

/** Makes an iteration by hand. Call inside a transaction; throws IterationFault. */
export async function createIteration(
  db: Db,
  group: Group,
  { cadence: title, ...iteration }: NewIteration & { readonly cadence?: string | undefined },
): Promise<Iteration> {
  if (iteration.due_date < iteration.start_date) throw new IterationFault('it would end before it starts')
  const cadence = await holdCadence(db, group, title)
  if (cadence.automatic) throw new IterationFault('the cadence makes its iterations by itself')
  const { start_date, due_date } = iteration
  if ((await db.one(overlapping, { cadence: cadence.id, start_date, due_date })) !== undefined)
    throw new IterationFault('its dates overlap with another iteration of the cadence')
  const made = await addIteration(db, cadence, iteration)
  await db.run(clearPlaces, { cadence: cadence.id })
  await db.run(setPlaces, { cadence: cadence.id })
  return (await db.one(byId, { id: made.id })) ?? made
}
