import { sql } from 'kysely'
import type { Db } from '../../db/db.ts'
import { q, statement, type Slots } from '../../db/statement.ts'

interface PlanLimitRow {
  readonly limits: Readonly<Record<string, number>>
}

const findStatement = statement((p: Slots<{ plan_name: string }>) =>
  q.selectFrom('plan_limits').select('limits').where('plan_name', '=', p.plan_name),
)
// Merged by the database, so that two administrators who set different limits at once lose neither.
const mergeStatement = statement(
  (p: Slots<{ plan_name: string; limits: string }>) => sql<PlanLimitRow>`
    update plan_limits set limits = limits || ${p.limits}::jsonb, updated_at = now()
     where plan_name = ${p.plan_name} returning limits`,
)

/** The limits a plan has of its own; undefined when there is no such plan. */
export const find = (db: Db, planName: string): Promise<PlanLimitRow | undefined> =>
  db.one(findStatement, { plan_name: planName })

/** Sets the given limits and leaves the others; undefined when there is no such plan. */
export const merge = (db: Db, planName: string, limits: object): Promise<PlanLimitRow | undefined> =>
  db.one(mergeStatement, { plan_name: planName, limits: JSON.stringify(limits) })
