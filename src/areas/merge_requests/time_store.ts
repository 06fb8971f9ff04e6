import { sql } from 'kysely'
import type { Db } from '../../db/client.ts'
import { statement, type Slots } from '../../db/statement.ts'

/** Seconds that are planned and that were spent. */
interface Times {
  readonly time_estimate: number
  readonly total_time_spent: number
}

const estimate = statement(
  (p: Slots<{ id: number; seconds: number }>) => sql<Times>`
    update merge_requests set time_estimate = ${p.seconds}, updated_at = now() where id = ${p.id}
    returning time_estimate, total_time_spent`,
)
export const setEstimate = (db: Db, id: number, seconds: number): Promise<Times | undefined> =>
  db.one(estimate, { id, seconds })

const spend = statement(
  (p: Slots<{ id: number; seconds: number | null }>) => sql<Times>`
    update merge_requests
       set total_time_spent = coalesce(total_time_spent + ${p.seconds}::int, 0), updated_at = now()
     where id = ${p.id} and coalesce(total_time_spent::bigint + ${p.seconds}::int, 0) between 0 and 2147483647
    returning time_estimate, total_time_spent`,
)
/** Adds seconds, or takes some away; null takes all. Undefined where there were not so many. */
export const addSpentTime = (db: Db, id: number, seconds: number | null): Promise<Times | undefined> =>
  db.one(spend, { id, seconds })
