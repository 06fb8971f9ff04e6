import { sql } from 'kysely'
import type { Db } from '../../db/db.ts'
import { statement, type Slots } from '../../db/statement.ts'
import { lastTime, nextTime, zoneOf } from '../values/crons.ts'

/** When a freeze begins and ends, as crons in a time zone. */
export interface Freeze {
  freeze_start: string
  freeze_end: string
  cron_timezone: string
}
interface FreezePeriod extends Freeze {
  id: number
}

/** One freeze: from `start` up to, not including, `end`. Without an end cron that fires it lasts for ever. */
export interface FreezeWindow {
  readonly start: Date
  readonly end: Date | undefined
}

const ofProject = statement(
  (p: Slots<{ project_id: number }>) => sql<FreezePeriod>`
    select id, freeze_start, freeze_end, cron_timezone from freeze_periods where project_id = ${p.project_id} order by created_at, id`,
)
/** All freeze periods of a project, the oldest first. */
export const freezePeriodsOf = (db: Db, projectId: number): Promise<readonly FreezePeriod[]> =>
  db.rows(ofProject, { project_id: projectId })

/** The freeze that `now` lies in: it began with the last start, and ends with the first end after that start. */
export function currentFreeze(freeze: Freeze, now: Date): FreezeWindow | undefined {
  const zone = zoneOf(freeze.cron_timezone) ?? 'UTC'
  const start = lastTime(freeze.freeze_start, zone, now)
  if (start === undefined) return undefined
  const end = nextTime(freeze.freeze_end, zone, start)
  return end === undefined || now < end ? { start, end } : undefined
}

/** The freezes that begin after `from`, at most `count` of them. Starts inside a freeze do not begin another one. */
export function comingFreezes(freeze: Freeze, from: Date, count: number): FreezeWindow[] {
  const zone = zoneOf(freeze.cron_timezone) ?? 'UTC'
  const windows: FreezeWindow[] = []
  const current = currentFreeze(freeze, from)
  if (current !== undefined && current.end === undefined) return []
  let after = current?.end === undefined ? from : before(current.end)
  while (windows.length < count) {
    const start = nextTime(freeze.freeze_start, zone, after)
    if (start === undefined) break
    const end = nextTime(freeze.freeze_end, zone, start)
    windows.push({ start, end })
    if (end === undefined) break
    after = before(end)
  }
  return windows
}
/** A start at the very moment of an end begins the next freeze. */
const before = (end: Date): Date => new Date(end.getTime() - 1000)

/** Whether deployments of the project are frozen: jobs then see `CI_DEPLOY_FREEZE`. */
export async function isFrozen(db: Db, projectId: number, now: Date): Promise<boolean> {
  const periods = await freezePeriodsOf(db, projectId)
  return periods.some((period) => currentFreeze(period, now) !== undefined)
}
