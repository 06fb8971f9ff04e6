import { Type as t, type Static } from 'typebox'
import type { Runner as RunnerRow, RunnerManager as ManagerRow } from '../../db/schema/ci.ts'
import { moment, nullable, oneOf } from '../../http/params/schema.ts'

const STATUSES = ['online', 'offline', 'stale', 'never_contacted'] as const
const TYPES = ['instance_type', 'group_type', 'project_type'] as const

/** A runner as lists and jobs show it. */
export const Runner = t.Object({
  id: t.Integer(),
  description: nullable(t.String()),
  ip_address: t.Null(),
  active: t.Boolean(),
  paused: t.Boolean(),
  is_shared: t.Boolean(),
  runner_type: oneOf(TYPES),
  name: nullable(t.String()),
  online: t.Boolean(),
  status: oneOf(STATUSES),
})

/** One process of a runner. */
export const RunnerManager = t.Object({
  id: t.Integer(),
  system_id: t.String(),
  version: nullable(t.String()),
  revision: nullable(t.String()),
  platform: nullable(t.String()),
  architecture: nullable(t.String()),
  created_at: moment(),
  contacted_at: moment(),
  ip_address: nullable(t.String()),
  status: oneOf(STATUSES),
})

const HOUR = 3_600_000
/** Milliseconds without contact after which a runner is offline, and after which it is stale. */
const OFFLINE_AFTER = 2 * HOUR
const STALE_AFTER = 7 * 24 * HOUR

function statusAt(contactedAt: Date | null, now: Date): (typeof STATUSES)[number] {
  if (contactedAt === null) return 'never_contacted'
  const silence = now.getTime() - contactedAt.getTime()
  if (silence < OFFLINE_AFTER) return 'online'
  return silence < STALE_AFTER ? 'offline' : 'stale'
}

export function presentRunner(row: RunnerRow, now: Date): Static<typeof Runner> {
  const status = statusAt(row.contacted_at, now)
  return {
    id: row.id,
    description: row.description,
    ip_address: null,
    active: !row.paused,
    paused: row.paused,
    is_shared: row.runner_type === 'instance_type',
    runner_type: row.runner_type,
    name: null,
    online: status === 'online',
    status,
  }
}

export const presentRunnerManager = (row: ManagerRow, now: Date): Static<typeof RunnerManager> => ({
  ...row,
  status: statusAt(row.contacted_at, now),
})
