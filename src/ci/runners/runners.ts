import { sql } from 'kysely'
import type { Db } from '../../db/db.ts'
import type { RunnerPlace } from './registration.ts'
import type { Job, Runner } from '../../db/schema/ci.ts'
import { q, statement, type Slots } from '../../db/statement.ts'

export interface NewRunner extends Pick<
  Runner,
  | 'runner_type'
  | 'digest'
  | 'group_id'
  | 'creator_id'
  | 'description'
  | 'maintenance_note'
  | 'paused'
  | 'locked'
  | 'run_untagged'
  | 'tag_list'
  | 'access_level'
  | 'maximum_timeout'
> {}

const insertStatement = statement(
  (p: Slots<NewRunner>) => sql<Runner>`
    insert into ci_runners (runner_type, digest, group_id, creator_id, description, maintenance_note, paused, locked,
                            run_untagged, tag_list, access_level, maximum_timeout)
    values (${p.runner_type}, ${p.digest}, ${p.group_id}, ${p.creator_id}, ${p.description}, ${p.maintenance_note},
            ${p.paused}, ${p.locked}, ${p.run_untagged}, ${p.tag_list}, ${p.access_level}, ${p.maximum_timeout})
    returning *`,
)
const assign = statement(
  (p: Slots<{ runner_id: number; project_id: number }>) => sql`
    insert into ci_runner_projects (runner_id, project_id) values (${p.runner_id}, ${p.project_id})
    on conflict do nothing`,
)
/** Inserts a runner; one of `project_type` runs jobs of that project first. Call inside a transaction. */
export async function insertRunner(db: Db, runner: NewRunner, projectId: number | null): Promise<Runner> {
  const row = await db.insert(insertStatement, runner)
  if (projectId !== null) await db.run(assign, { runner_id: row.id, project_id: projectId })
  return row
}

/** Lets a runner run jobs of another project. 0 where it does already. */
export const assignRunner = (db: Db, runner_id: number, project_id: number): Promise<number> =>
  db.run(assign, { runner_id, project_id })

const unassign = statement(
  (p: Slots<{ runner_id: number; project_id: number }>) => sql`
    delete from ci_runner_projects where runner_id = ${p.runner_id} and project_id = ${p.project_id}`,
)
export const unassignRunner = (db: Db, runner_id: number, project_id: number): Promise<number> =>
  db.run(unassign, { runner_id, project_id })

const lockPlace = statement(
  (p: Slots<{ key: string }>) => sql`select pg_advisory_xact_lock(hashtextextended(${p.key}, 0))`,
)
/** Lets one transaction after the other add runners to a place. */
export const lockRunnersOf = async (db: Db, { group_id, project_id }: RunnerPlace): Promise<void> =>
  void (await db.rows(lockPlace, { key: `runners ${group_id ?? 0} ${project_id ?? 0}` }))

const countRecent = statement(
  (p: Slots<RunnerPlace>) => sql<{ count: number }>`
    select count(*)::int as count from ci_runners r
     where greatest(r.created_at, r.contacted_at) > now() - interval '7 days'
       and (r.group_id = ${p.group_id} or r.id in (
         select runner_id from ci_runner_projects where project_id = ${p.project_id}))`,
)
/** The runners of a place that were made or heard of in the last seven days: those that count for its limit. */
export const countRecentRunners = async (db: Db, place: RunnerPlace): Promise<number> =>
  (await db.one(countRecent, place))?.count ?? 0

const setToken = statement(
  (p: Slots<{ id: number; digest: Buffer }>) => sql`
    update ci_runners set digest = ${p.digest}, updated_at = now() where id = ${p.id}`,
)
export const setRunnerToken = (db: Db, id: number, digest: Buffer): Promise<number> =>
  db.run(setToken, { id, digest })

const byDigest = statement((p: Slots<{ digest: Buffer }>) =>
  q.selectFrom('ci_runners').selectAll().where('digest', '=', p.digest),
)
export const findRunnerByDigest = (db: Db, digest: Buffer): Promise<Runner | undefined> =>
  db.one(byDigest, { digest })

const removeStatement = statement((p: Slots<{ id: number }>) =>
  q.deleteFrom('ci_runners').where('id', '=', p.id),
)
export const removeRunner = (db: Db, id: number): Promise<number> => db.run(removeStatement, { id })

const removeManagerStatement = statement(
  (p: Slots<{ runner_id: number; system_id: string }>) => sql`
    delete from ci_runner_managers where runner_id = ${p.runner_id} and system_id = ${p.system_id}`,
)
export const removeManager = (db: Db, runner_id: number, system_id: string): Promise<number> =>
  db.run(removeManagerStatement, { runner_id, system_id })

/** The self-description of a runner's process. */
export interface ManagerFacts {
  readonly system_id: string
  readonly version: string | null
  readonly revision: string | null
  readonly platform: string | null
  readonly architecture: string | null
  readonly ip_address: string | null
}

// Written at most once a minute: runners ask every few seconds.
const noteManager = statement(
  (p: Slots<ManagerFacts & { runner_id: number }>) => sql<{ id: number }>`
    with known as (
      select id, contacted_at, version from ci_runner_managers
       where runner_id = ${p.runner_id} and system_id = ${p.system_id}),
    noted as (
      insert into ci_runner_managers (runner_id, system_id, version, revision, platform, architecture, ip_address)
      select ${p.runner_id}, ${p.system_id}, ${p.version}, ${p.revision}, ${p.platform}, ${p.architecture}, ${p.ip_address}
       where not exists (select from known where contacted_at > now() - interval '1 minute'
                                             and version is not distinct from ${p.version}::text)
      on conflict (runner_id, system_id) do update set
        version = excluded.version, revision = excluded.revision, platform = excluded.platform,
        architecture = excluded.architecture, ip_address = excluded.ip_address, contacted_at = now()
      returning id)
    select id from noted union all select id from known limit 1`,
)
const noteRunner = statement(
  (p: Slots<{ id: number }>) => sql`
    update ci_runners set contacted_at = now()
     where id = ${p.id} and (contacted_at is null or contacted_at < now() - interval '1 minute')`,
)

/** Notes that a runner was heard of; the id of its process where it tells which it is. */
export async function noteContact(
  db: Db,
  runner: Pick<Runner, 'id' | 'contacted_at'>,
  facts: ManagerFacts | undefined,
): Promise<number | null> {
  await db.run(noteRunner, { id: runner.id })
  if (facts === undefined) return null
  return (await db.one(noteManager, { ...facts, runner_id: runner.id }))?.id ?? null
}

const touchLease = statement(
  (p: Slots<{ id: number }>) => sql`
    update ci_jobs set contacted_at = clock_timestamp()
     where id = ${p.id} and status in ('running', 'canceling')`,
)
/** Renews the lease of a job: its runner was heard of. */
export const renewLease = (db: Db, jobId: number): Promise<number> => db.run(touchLease, { id: jobId })

const byToken = statement((p: Slots<{ digest: Buffer }>) =>
  q.selectFrom('ci_jobs').selectAll().where('token_digest', '=', p.digest),
)
/** The job that a token was made for, whatever its state. */
export const findJobByToken = (db: Db, digest: Buffer): Promise<Job | undefined> =>
  db.one(byToken, { digest })
