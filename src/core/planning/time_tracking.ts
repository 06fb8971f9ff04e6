import { sql } from 'kysely'
import type { Db } from '../../db/db.ts'
import { statements } from '../../db/statement.ts'
import { showDuration } from '../values/durations.ts'
import { writeSystemNote } from '../conversation/system_notes.ts'

// How long issues and merge requests should take and took, and what the service says of it.

const TABLES = { issue: 'issues', merge_request: 'merge_requests' } as const
interface Shape {
  readonly kind: keyof typeof TABLES
}
/** Seconds that are planned and that were spent. */
interface Times {
  readonly time_estimate: number
  readonly total_time_spent: number
}
/** The author and the record. Call each inside the transaction of the change. */
export interface TimeDeed extends Shape {
  readonly db: Db
  readonly actor: { readonly id: number }
  readonly id: number
}

const estimate = statements<Shape, { id: number; seconds: number }, Times>(
  (p, { kind }) => sql`
    update ${sql.table(TABLES[kind])} set time_estimate = ${p.seconds}, updated_at = now() where id = ${p.id}
    returning time_estimate, total_time_spent`,
)
const spend = statements<Shape, { id: number; seconds: number | null }, Times>(
  (p, { kind }) => sql`
    update ${sql.table(TABLES[kind])}
       set total_time_spent = coalesce(total_time_spent + ${p.seconds}::int, 0), updated_at = now()
     where id = ${p.id} and coalesce(total_time_spent::bigint + ${p.seconds}::int, 0) between 0 and 2147483647
    returning time_estimate, total_time_spent`,
)

const say = ({ db, actor, id }: TimeDeed, body: string): Promise<void> =>
  writeSystemNote(db, { noteable_id: id, author_id: actor.id, action: 'time_tracking', body })

export const estimated = (seconds: number): string => {
  const text = showDuration(seconds)
  return text === null ? 'removed time estimate' : `changed time estimate to ${text}`
}
/** `seconds` fewer where they are negative. */
export const spent = (seconds: number): string =>
  `${seconds > 0 ? 'added' : 'subtracted'} ${showDuration(Math.abs(seconds)) ?? ''} of time spent`
export const FORGOTTEN = 'removed time spent'

/** Zero takes the estimate away; undefined when the record is gone. */
export async function setEstimate(deed: TimeDeed, seconds: number): Promise<Times | undefined> {
  const after = await deed.db.one(estimate({ kind: deed.kind }), { id: deed.id, seconds })
  await say(deed, estimated(seconds))
  return after
}

/** Adds seconds, or takes some away; undefined where there were not so many. */
export async function addSpent(deed: TimeDeed, seconds: number): Promise<Times | undefined> {
  const after = await deed.db.one(spend({ kind: deed.kind }), { id: deed.id, seconds })
  if (after !== undefined) await say(deed, spent(seconds))
  return after
}

/** Undefined when the record is gone. */
export async function resetSpent(deed: TimeDeed): Promise<Times | undefined> {
  const after = await deed.db.one(spend({ kind: deed.kind }), { id: deed.id, seconds: null })
  await say(deed, FORGOTTEN)
  return after
}
