import { sql } from 'kysely'
import type { Db } from '../../db/db.ts'
import { statement, type Slots } from '../../db/statement.ts'

// Events of records, written as they happen; labels are in `labelling.ts`. Call each inside the transaction of the
// change.

interface Deed {
  readonly noteable_id: number
  readonly user_id: number | null
}

const state = statement(
  (p: Slots<Deed & { state: string }>) => sql`
    insert into resource_state_events (noteable_id, user_id, state)
    values (${p.noteable_id}, ${p.user_id}, ${p.state})`,
)
export const recordState = (
  db: Db,
  deed: Deed & { readonly state: 'closed' | 'reopened' | 'merged' },
): Promise<number> => db.run(state, deed)

interface MilestoneDeed extends Deed {
  readonly milestone_id: number
  readonly action: 'add' | 'remove'
  /** The record's state at that moment. */
  readonly state: string
}
const milestone = statement(
  (p: Slots<MilestoneDeed>) => sql`
    insert into resource_milestone_events (noteable_id, user_id, milestone_id, action, state)
    values (${p.noteable_id}, ${p.user_id}, ${p.milestone_id}, ${p.action}, ${p.state})`,
)
interface Move {
  readonly from: number | null
  readonly to: number | null
}

/** One event: what was added, or what was taken away where nothing took its place. */
export async function recordMilestone(
  db: Db,
  deed: Deed & { readonly state: string },
  { from, to }: Move,
): Promise<void> {
  const milestone_id = to ?? from
  if (milestone_id === null || from === to) return
  await db.run(milestone, { ...deed, milestone_id, action: to === null ? 'remove' : 'add' })
}

const iteration = statement(
  (p: Slots<Deed & { iteration_id: number; action: 'add' | 'remove' }>) => sql`
    insert into resource_iteration_events (issue_id, user_id, iteration_id, action)
    values (${p.noteable_id}, ${p.user_id}, ${p.iteration_id}, ${p.action})`,
)
/** The same for the iteration of an issue. */
export async function recordIteration(db: Db, deed: Deed, { from, to }: Move): Promise<void> {
  const iteration_id = to ?? from
  if (iteration_id === null || from === to) return
  const { noteable_id, user_id } = deed
  await db.run(iteration, { noteable_id, user_id, iteration_id, action: to === null ? 'remove' : 'add' })
}

const weight = statement(
  (p: Slots<Deed & { weight: number | null }>) => sql`
    insert into resource_weight_events (issue_id, user_id, weight)
    values (${p.noteable_id}, ${p.user_id}, ${p.weight})`,
)
export const recordWeight = (db: Db, deed: Deed & { readonly weight: number | null }): Promise<number> =>
  db.run(weight, deed)
