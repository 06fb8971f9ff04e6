import { digestOf, makeToken } from '../../access/tokens.ts'
import { countRecentRunners, insertRunner, lockRunnersOf } from '../../ci/runners/runners.ts'
import type { RunnerPlace } from '../../ci/runners/registration.ts'
import { limitOf } from '../../core/settings/plan_limits.ts'
import type { Db } from '../../db/db.ts'
import type { Runner } from '../../db/schema/ci.ts'
import { invalid, type Problem } from '../../http/problems.ts'
import type { newRunnerOf } from './fields.ts'

const tooManyOf = (of: 'project' | 'group', limit: number): Problem =>
  invalid({
    [of === 'project' ? 'runner_projects.base' : 'runner_namespaces.base']: [
      `Maximum number of ci registered ${of} runners (${limit}) exceeded`,
    ],
  })
export const tooMany = (): Problem => tooManyOf('project', 1_000)

/** A project or group that runners belong to, with the ids of its namespaces from the root down. */
export interface Home {
  readonly place: RunnerPlace
  readonly traversal_ids: readonly number[]
}
export const INSTANCE: Home = { place: { group_id: null, project_id: null }, traversal_ids: [] }

/** Throws 400 where the plan lets no further runner work there. Holds until the transaction ends. */
export async function checkRoom(db: Db, { place, traversal_ids }: Home): Promise<void> {
  const of = place.project_id === null ? 'group' : 'project'
  if (place.project_id === null && place.group_id === null) return
  const limit = await limitOf(
    db,
    { traversal_ids },
    of === 'project' ? 'ci_registered_project_runners' : 'ci_registered_group_runners',
  )
  await lockRunnersOf(db, place)
  if ((await countRecentRunners(db, place)) >= limit) throw tooManyOf(of, limit)
}

interface Made {
  readonly prefix: string
  readonly creator_id: number | null
  readonly kept: ReturnType<typeof newRunnerOf>
}

/** Makes a runner of a place, and its token, which is shown this once. */
export async function createIn(
  db: Db,
  home: Home,
  { prefix, creator_id, kept }: Made,
): Promise<{ readonly runner: Runner; readonly token: string }> {
  await checkRoom(db, home)
  const { group_id, project_id } = home.place
  const token = makeToken(prefix)
  const runner_type =
    project_id !== null ? 'project_type' : group_id !== null ? 'group_type' : 'instance_type'
  const row = { runner_type, digest: digestOf(token), group_id, creator_id, ...kept } as const
  return { runner: await insertRunner(db, row, project_id), token }
}
