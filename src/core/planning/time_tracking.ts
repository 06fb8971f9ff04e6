import { sql, type RawBuilder } from 'kysely'
import type { Db } from '../../db/db.ts'
import { statements } from '../../db/statement.ts'
import { showDuration } from '../values/durations.ts'
import { changesBetween } from '../../outbox/changes.ts'
import { recordIssue } from './issue_events.ts'
import { recordMergeRequest } from './merge_request_events.ts'
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

interface Changed extends Times {
  readonly id: number
  readonly iid: number
  readonly project_id: number
  readonly confidential: boolean
  readonly old_estimate: number
  readonly old_spent: number
}
const held = ({ kind }: Shape, id: RawBuilder<number>): RawBuilder<unknown> => sql`(
  select id, time_estimate as old_estimate, total_time_spent as old_spent from ${sql.table(TABLES[kind])}
   where id = ${id} for update) old`
const returned = ({ kind }: Shape): RawBuilder<unknown> => sql`
  r.id, r.iid, r.project_id, ${kind === 'issue' ? sql`r.confidential` : sql`false as confidential`},
  r.time_estimate, r.total_time_spent, old.old_estimate, old.old_spent`
const estimate = statements<Shape, { id: number; seconds: number }, Changed>(
  (p, shape) => sql`
    update ${sql.table(TABLES[shape.kind])} r set time_estimate = ${p.seconds}, updated_at = now()
      from ${held(shape, p.id)} where r.id = old.id
    returning ${returned(shape)}`,
)
const spend = statements<Shape, { id: number; seconds: number | null }, Changed>(
  (p, shape) => sql`
    update ${sql.table(TABLES[shape.kind])} r
       set total_time_spent = coalesce(r.total_time_spent + ${p.seconds}::int, 0), updated_at = now()
      from ${held(shape, p.id)}
     where r.id = old.id and coalesce(r.total_time_spent::bigint + ${p.seconds}::int, 0) between 0 and 2147483647
    returning ${returned(shape)}`,
)

/** Records a change of times, where there was one. */
async function record({ db, kind, actor }: TimeDeed, row: Changed | undefined): Promise<void> {
  if (row === undefined) return
  const { time_estimate, total_time_spent } = row
  const before = { time_estimate: row.old_estimate, total_time_spent: row.old_spent }
  const changes = changesBetween(before, { time_estimate, total_time_spent })
  if (Object.keys(changes).length === 0) return
  const event = { action: 'update', author_id: actor.id, changes } as const
  await (kind === 'issue' ? recordIssue(db, row, event) : recordMergeRequest(db, row, event))
}

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
  await record(deed, after)
  await say(deed, estimated(seconds))
  return after
}

/** Adds seconds, or takes some away; undefined where there were not so many. */
export async function addSpent(deed: TimeDeed, seconds: number): Promise<Times | undefined> {
  const after = await deed.db.one(spend({ kind: deed.kind }), { id: deed.id, seconds })
  await record(deed, after)
  if (after !== undefined) await say(deed, spent(seconds))
  return after
}

/** Undefined when the record is gone. */
export async function resetSpent(deed: TimeDeed): Promise<Times | undefined> {
  const after = await deed.db.one(spend({ kind: deed.kind }), { id: deed.id, seconds: null })
  await record(deed, after)
  await say(deed, FORGOTTEN)
  return after
}
