import { Type as t, type Static } from 'typebox'
import type { Runner as RunnerRow, RunnerManager as ManagerRow } from '../../db/schema/ci.ts'
import { moment, nullable } from '../../http/params/schema.ts'
import type { Instance } from '../../instance.ts'
import { UserBasic, presentUser, type Author } from '../../records/people/user.ts'

const text = nullable(t.String())

export const Runner = t.Object({
  id: t.Integer(),
  description: text,
  ip_address: text,
  active: t.Boolean({ deprecated: true, description: 'Deprecated: see `paused`' }),
  paused: t.Boolean(),
  is_shared: t.Boolean(),
  runner_type: t.String(),
  name: text,
  online: nullable(t.Boolean()),
  created_by: nullable(UserBasic),
  created_at: moment(),
  status: t.String(),
  job_execution_status: t.String(),
})

const RunnerProject = t.Object({
  id: t.Integer(),
  name: t.String(),
  name_with_namespace: t.String(),
  path: t.String(),
  path_with_namespace: t.String(),
})
const RunnerGroup = t.Object({ id: t.Integer(), web_url: t.String(), name: t.String() })

export const RunnerDetail = t.Object({
  ...Runner.properties,
  tag_list: t.Array(t.String()),
  run_untagged: t.Boolean(),
  locked: t.Boolean(),
  maximum_timeout: nullable(t.Integer()),
  access_level: t.String(),
  version: text,
  revision: text,
  platform: text,
  architecture: text,
  contacted_at: nullable(moment()),
  maintenance_note: text,
  projects: t.Array(RunnerProject),
  groups: t.Array(RunnerGroup),
})

export const RunnerManager = t.Object({
  id: t.Integer(),
  system_id: t.String(),
  version: text,
  revision: text,
  platform: text,
  architecture: text,
  created_at: moment(),
  contacted_at: moment(),
  ip_address: text,
  status: t.String(),
  job_execution_status: t.String(),
})

/** A runner with what lists tell of it. */
export type ListedRunner = RunnerRow & { readonly created_by: Author | null; readonly is_busy: boolean }

const HOUR = 3_600_000
/** Milliseconds after its last contact for which a runner is online. */
const ONLINE = 2 * HOUR
/** Milliseconds after which one that was not heard of is stale. */
const STALE = 7 * 24 * HOUR

function statusOf(contacted: Date | null, created: Date, now: Date): string {
  const since = (moment: Date): number => now.getTime() - moment.getTime()
  if (since(created) > STALE && (contacted === null || since(contacted) > STALE)) return 'stale'
  if (contacted === null) return 'never_contacted'
  return since(contacted) < ONLINE ? 'online' : 'offline'
}

type Tools = Pick<Instance, 'config'> & { readonly now: Date }

export function presentRunner(row: ListedRunner, tools: Tools): Static<typeof Runner> {
  const { contacted_at, created_at, created_by } = row
  return {
    id: row.id,
    description: row.description,
    // Of its processes each has an address of its own.
    ip_address: null,
    active: !row.paused,
    paused: row.paused,
    is_shared: row.runner_type === 'instance_type',
    runner_type: row.runner_type,
    name: null,
    online: contacted_at === null ? null : tools.now.getTime() - contacted_at.getTime() < ONLINE,
    created_by: created_by && presentUser(created_by, tools),
    created_at,
    status: statusOf(contacted_at, created_at, tools.now),
    job_execution_status: row.is_busy ? 'active' : 'idle',
  }
}

/** The owners of a runner, as far as the caller sees them. */
export interface RunnerPlaces {
  readonly projects: readonly Static<typeof RunnerProject>[]
  readonly groups: readonly { readonly id: number; readonly full_path: string; readonly name: string }[]
  readonly manager: ManagerRow | undefined
}

export function presentRunnerDetail(
  row: ListedRunner,
  { projects, groups, manager }: RunnerPlaces,
  tools: Tools,
): Static<typeof RunnerDetail> {
  const { version = null, revision = null, platform = null, architecture = null } = manager ?? {}
  const { tag_list, run_untagged, locked, maximum_timeout, access_level, contacted_at } = row
  return {
    ...presentRunner(row, tools),
    tag_list,
    run_untagged,
    locked,
    maximum_timeout,
    access_level,
    contacted_at,
    version,
    revision,
    platform,
    architecture,
    maintenance_note: row.maintenance_note,
    projects: [...projects],
    groups: groups.map(({ id, full_path, name }) => ({
      id,
      web_url: `${tools.config.url}/groups/${full_path}`,
      name,
    })),
  }
}

export type ListedManager = ManagerRow & { readonly is_busy: boolean }

export const presentManager = (row: ListedManager, { now }: Tools): Static<typeof RunnerManager> => ({
  id: row.id,
  system_id: row.system_id,
  version: row.version,
  revision: row.revision,
  platform: row.platform,
  architecture: row.architecture,
  created_at: row.created_at,
  contacted_at: row.contacted_at,
  ip_address: row.ip_address,
  status: statusOf(row.contacted_at, row.created_at, now),
  job_execution_status: row.is_busy ? 'active' : 'idle',
})
