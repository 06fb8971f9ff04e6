import { sql, type RawBuilder } from 'kysely'
import type { Db } from '../db/db.ts'
import type { ResourceGroup } from '../db/schema/ci.ts'
import { statement, statements, type Slots } from '../db/statement.ts'
import { HOLDING } from './status.ts'

export type ProcessMode = ResourceGroup['process_mode']

const WAITING = sql`'waiting_for_resource'`
/** The jobs `j` of a group that the mode counts as upcoming, and the order in which they run. */
export const UPCOMING: Readonly<
  Record<ProcessMode, { states: RawBuilder<unknown>; order: RawBuilder<unknown> }>
> = {
  unordered: { states: sql`j.status = ${WAITING}`, order: sql`j.id` },
  oldest_first: {
    states: sql`j.status in ('created', 'scheduled', ${WAITING})`,
    order: sql`j.pipeline_id, j.status <> ${WAITING}, j.id`,
  },
  newest_first: {
    states: sql`j.status in ('created', 'scheduled', ${WAITING})`,
    order: sql`j.pipeline_id desc, j.status <> ${WAITING}, j.id`,
  },
}

const free = statement(
  (p: Slots<{ id: number }>) => sql<{ process_mode: ProcessMode }>`
    select g.process_mode from resource_groups g
     where g.id = ${p.id}
       and not exists (select from ci_jobs h
                        where h.resource_group_id = ${p.id} and h.status in (${sql.join(HOLDING.map((one) => sql.lit(one)))}))`,
)
const first = statements<{ mode: ProcessMode }, { id: number }, { id: number; status: string }>(
  (p, { mode }) => sql`
    select j.id, j.status from ci_jobs j
     where j.resource_group_id = ${p.id} and ${UPCOMING[mode].states} order by ${UPCOMING[mode].order} limit 1`,
)

/**
 * The job that takes the group's resource now: undefined where the resource is taken, or the next job is not ready. Call
 * while the project is locked.
 */
export async function nextOfGroup(db: Db, groupId: number): Promise<number | undefined> {
  const group = await db.one(free, { id: groupId })
  if (group === undefined) return undefined
  const next = await db.one(first({ mode: group.process_mode }), { id: groupId })
  return next?.status === 'waiting_for_resource' ? next.id : undefined
}

const setMode = statement(
  (p: Slots<{ id: number; project_id: number; process_mode: ProcessMode }>) => sql<ResourceGroup>`
    update resource_groups set process_mode = ${p.process_mode}, updated_at = now()
     where id = ${p.id} and project_id = ${p.project_id} returning *`,
)
/** Changes how a group chooses: where its resource is free, it chooses anew when the turn ends. */
export async function setProcessMode(
  turn: { readonly db: Db; readonly projectId: number; touchGroup(id: number): void },
  id: number,
  process_mode: ProcessMode,
): Promise<ResourceGroup> {
  turn.touchGroup(id)
  return turn.db.update(setMode, { id, project_id: turn.projectId, process_mode })
}
