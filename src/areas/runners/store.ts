import { sql } from 'kysely'
import { heldBy, roleInNamespace, roleInProject } from '../../core/sight/roles.ts'
import type { Db } from '../../db/db.ts'
import { paged, pageStatement, pageStatements, type Listed, type Page } from '../../db/pages.ts'
import { updateIn } from '../../db/rows.ts'
import type { Job, Runner } from '../../db/schema/ci.ts'
import type { Visibility } from '../../db/schema/columns.ts'
import { statement, type Slots } from '../../db/statement.ts'
import type { ListedManager, ListedRunner, RunnerPlaces } from './entity.ts'
import { managedBy, runnerColumns } from './list_store.ts'

/** A runner as its operations need it. */
export type SeenRunner = ListedRunner & { readonly manages: boolean; readonly projects_count: number }

const findStatement = statement(
  (p: Slots<{ id: number; user_id: number }>) => sql<SeenRunner>`
    select ${runnerColumns}, ${managedBy(p.user_id)} as manages,
           (select count(*)::int from ci_runner_projects rp where rp.runner_id = r.id) as projects_count
      from ci_runners r where r.id = ${p.id}`,
)
export const find = (db: Db, id: number, userId: number): Promise<SeenRunner | undefined> =>
  db.one(findStatement, { id, user_id: userId })

/** Columns of a runner that callers change. */
export const CHANGEABLE = [
  'description',
  'paused',
  'tag_list',
  'run_untagged',
  'locked',
  'access_level',
  'maximum_timeout',
  'maintenance_note',
] as const
const updateStatement = updateIn('ci_runners', ['id'], CHANGEABLE)
export const update = (
  db: Db,
  id: number,
  changes: Partial<Pick<Runner, (typeof CHANGEABLE)[number]>>,
): Promise<Runner> => db.update(updateStatement, { id, ...changes })

const announceStatement = statement(() => sql`select pg_notify('ci_queue', '')`)
/** Lets waiting requests of runners look at their runner, and for jobs, again. */
export const announce = (db: Db): Promise<number> => db.run(announceStatement, {})

const projectsStatement = statement(
  (p: Slots<{ id: number; user_id: number }>) => sql<
    RunnerPlaces['projects'][number] & { readonly visibility: Visibility; readonly role: number }
  >`
    select o.id, o.name, n.full_name || ' / ' || o.name as name_with_namespace, o.path,
           o.full_path as path_with_namespace, o.visibility,
           coalesce(${roleInProject(heldBy(p.user_id), sql`o.id`, sql`n.traversal_ids`)}, 0) as role
      from ci_runner_projects rp
      join projects o on o.id = rp.project_id join namespaces n on n.id = o.namespace_id
     where rp.runner_id = ${p.id} order by rp.created_at, o.id limit 1000`,
)
type PlacedProject = RunnerPlaces['projects'][number] & {
  readonly visibility: Visibility
  readonly role: number
}
/** The projects of a runner, with the caller's role: the first one owns it. */
export const projectsOf = (db: Db, id: number, userId: number): Promise<PlacedProject[]> =>
  db.rows(projectsStatement, { id, user_id: userId })

const groupsStatement = statement(
  (p: Slots<{ id: number; user_id: number }>) => sql<
    RunnerPlaces['groups'][number] & { readonly visibility: Visibility; readonly role: number }
  >`
    select n.id, n.full_path, n.name, n.visibility,
           coalesce(${roleInNamespace(heldBy(p.user_id), sql`n.traversal_ids`)}, 0) as role
      from ci_runners r join namespaces n on n.id = r.group_id where r.id = ${p.id}`,
)
type PlacedGroup = RunnerPlaces['groups'][number] & { readonly visibility: Visibility; readonly role: number }
export const groupsOf = (db: Db, id: number, userId: number): Promise<PlacedGroup[]> =>
  db.rows(groupsStatement, { id, user_id: userId })

const managersStatement = pageStatement((p: Slots<{ runner_id: number } & Page>) =>
  paged(
    sql<ListedManager>`
      select m.*, exists (select from ci_jobs j where j.runner_manager_id = m.id
                                                  and j.status in ('running', 'canceling')) as is_busy
        from ci_runner_managers m where m.runner_id = ${p.runner_id}
       order by m.id desc limit ${p.limit} offset ${p.offset}`,
    sql`select from ci_runner_managers where runner_id = ${p.runner_id}`,
  ),
)
export const listManagers = (db: Db, runner_id: number, page: Page): Promise<Listed<ListedManager>> =>
  db.page(managersStatement, { runner_id, ...page })

const newestManager = statement(
  (p: Slots<{ runner_id: number }>) => sql<ListedManager>`
    select *, false as is_busy from ci_runner_managers
     where runner_id = ${p.runner_id} order by contacted_at desc, id desc limit 1`,
)
/** The process of a runner that was heard of last. */
export const latestManager = (db: Db, runner_id: number): Promise<ListedManager | undefined> =>
  db.one(newestManager, { runner_id })

interface JobsShape {
  readonly status: boolean
  readonly system: boolean
  readonly desc: boolean
  readonly admin: boolean
}
interface JobsValues extends Page {
  readonly runner_id: number
  readonly user_id: number
  readonly status: string
  readonly system_id: string
}
// Of the projects that the caller reads the pipelines of, as `readsPipelines` says it.
const jobsStatement = pageStatements<JobsShape, JobsValues, Job>((p, { status, system, desc, admin }) => {
  const role = sql`coalesce(${roleInProject(heldBy(p.user_id), sql`o.id`, sql`n.traversal_ids`)}, 0)`
  const matches = sql`
    from ci_jobs j join projects o on o.id = j.project_id join namespaces n on n.id = o.namespace_id
   where j.runner_id = ${p.runner_id} and j.kind = 'build'
     ${admin ? sql`` : sql`and ${role} >= 20`} ${status ? sql`and j.status = ${p.status}` : sql``}
     ${
       system
         ? sql`and j.runner_manager_id = (select m.id from ci_runner_managers m
                     where m.runner_id = j.runner_id and m.system_id = ${p.system_id})`
         : sql``
     }`
  return paged(
    sql<Job>`select j.* ${matches} order by j.id ${desc ? sql`desc` : sql`asc`}
              limit ${p.limit} offset ${p.offset}`,
    sql`select ${matches}`,
  )
})
export const listJobs = (db: Db, shape: JobsShape, values: JobsValues): Promise<Listed<Job>> =>
  db.page(jobsStatement(shape), values)
