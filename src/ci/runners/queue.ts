import { sql, type RawBuilder } from 'kysely'
import type { Db } from '../../db/db.ts'
import type { Job, Runner } from '../../db/schema/ci.ts'
import { statement, statements, type Slots } from '../../db/statement.ts'
import { finishJob } from '../jobs/actions.ts'
import type { Turn } from '../turn.ts'

// Which job a runner gets. Jobs wait in indexes, one entry for each combination of tags: how many wait does not matter.

interface Shape {
  readonly type: Runner['runner_type']
  readonly untagged: boolean
  readonly protectedOnly: boolean
}
interface Values {
  readonly runner_id: number
  readonly group_id: number | null
  readonly tags: readonly string[]
}
export interface Candidate {
  readonly id: number
  readonly project_id: number
}

const PLACES: Readonly<Record<Runner['runner_type'], (p: Slots<Values>) => RawBuilder<unknown>>> = {
  instance_type: () => sql`(select) place`,
  project_type: (p) =>
    sql`(select project_id from ci_runner_projects where runner_id = ${p.runner_id}) place`,
  group_type: (p) => sql`
    (select o.id as project_id from projects o join namespaces n on n.id = o.namespace_id
      where n.traversal_ids @> array[${p.group_id}]::bigint[]
        and coalesce((o.settings->>'group_runners_enabled')::boolean, true)) place`,
}

const next = statements<Shape, Values, Candidate>((p, { type, untagged, protectedOnly }) => {
  const within = type === 'instance_type' ? sql`w.instance_runners` : sql`w.project_id = place.project_id`
  return sql<Candidate>`
    select j.id, j.project_id
      from ${PLACES[type](p)},
           (select id from ci_tag_sets t
             where t.tags <@ ${p.tags}::text[] ${untagged ? sql`` : sql`and t.tags <> '{}'`}) sets,
           (values (true) ${protectedOnly ? sql`` : sql`, (false)`}) refs (protected),
           lateral (select w.id, w.project_id from ci_jobs w
                     where w.status = 'pending' and w.kind = 'build' and ${within}
                       and w.tag_set_id = sets.id and w.protected = refs.protected
                     order by w.id limit 1) j
     order by j.id limit 1`
})

/** The oldest pending job that the runner may take; another runner may be faster. */
export const nextCandidate = async (db: Db, runner: Runner): Promise<Candidate | undefined> => {
  const { runner_type: type, run_untagged: untagged, access_level } = runner
  const shape = { type, untagged, protectedOnly: access_level === 'ref_protected' }
  const values = { runner_id: runner.id, group_id: runner.group_id, tags: runner.tag_list }
  return (await db.rows(next(shape), values))[0]
}

/** The runner of a job, and the conditions it runs under. */
export interface HandOver {
  readonly runner: Runner
  readonly manager_id: number | null
  readonly token_digest: Buffer
  readonly cancels_gracefully: boolean
}

const hindrance = statement(
  (p: Slots<{ id: number }>) => sql<{ reason: string | null }>`
    select case when u.id is null or u.state <> 'active' then 'user_blocked'
                when o.archived then 'archived_failure'
                when o.settings->>'builds_access_level' = 'disabled' or o.settings->>'jobs_enabled' = 'false'
                then 'builds_disabled' end as reason
      from ci_jobs j join projects o on o.id = j.project_id left join users u on u.id = j.user_id
     where j.id = ${p.id}`,
)
const handOver = statement(
  (
    p: Slots<{
      id: number
      runner_id: number
      manager_id: number | null
      token_digest: Buffer
      cancels_gracefully: boolean
      maximum_timeout: number | null
    }>,
  ) => sql<Job>`
    update ci_jobs j set
           runner_id = ${p.runner_id}, runner_manager_id = ${p.manager_id}, token_digest = ${p.token_digest},
           cancels_gracefully = ${p.cancels_gracefully}, contacted_at = null, started_at = clock_timestamp(),
           timeout = least(coalesce(s.timeout, (o.settings->>'build_timeout')::bigint, 3600), ${p.maximum_timeout}::bigint)
      from ci_job_specs s, projects o
     where j.id = ${p.id} and s.id = j.spec_id and o.id = j.project_id
    returning j.*`,
)

/** Why a job may not run now; null where nothing stands against it. */
export const hindranceOf = async (db: Db, id: number): Promise<string | null> =>
  (await db.one(hindrance, { id }))?.reason ?? null

/** Gives a pending job to a runner. Undefined where it is not pending any more, or nobody may run it. */
export async function startJob(
  turn: Turn,
  id: number,
  { runner, manager_id, token_digest, cancels_gracefully }: HandOver,
): Promise<Job | undefined> {
  const hindered = await turn.db.one(hindrance, { id })
  if (hindered === undefined) return undefined
  if (hindered.reason !== null) {
    await finishJob(turn, id, { status: 'failed', failure_reason: hindered.reason })
    return undefined
  }
  const [entered] = await turn.enter([id], ['pending'], 'running')
  if (entered === undefined) return undefined
  const { id: runner_id, maximum_timeout } = runner
  return turn.db.one(handOver, {
    id,
    runner_id,
    maximum_timeout,
    manager_id,
    token_digest,
    cancels_gracefully,
  })
}
