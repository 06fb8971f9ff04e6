import { sql } from 'kysely'
import { showsCodeOf } from '../../core/sight/features.ts'
import { homeOf, openTo, type Viewer } from '../../core/sight/roles.ts'
import { mine, role, visibleForks, type Caller } from '../../core/sight/callers.ts'
import type { Db } from '../../db/db.ts'
import { paged, pageStatements, type Listed, type Page } from '../../db/pages.ts'
import { existing, deleteFrom, insertInto, selectOne, updateIn } from '../../db/rows.ts'
import type { Environment } from '../../db/schema/delivery.ts'
import { statement, statements, type Slots } from '../../db/statement.ts'
import { containing } from '../../db/text.ts'
import { withUser, type DeploymentWithUser } from '../../records/jobs/deployment.ts'
import type { ProjectInGroup } from '../../records/places/project.ts'

type Key = Pick<Environment, 'project_id' | 'id'>

interface Filters {
  readonly name: boolean
  readonly search: boolean
  readonly state: boolean
}
type Values = Page & {
  readonly project_id: number
  readonly name: string
  readonly search: string
  readonly state: string
}
const listStatement = pageStatements<Filters, Values, Environment>((p, filters) => {
  const matches = sql`
    from environments where project_id = ${p.project_id}
    ${filters.name ? sql`and name = ${p.name}` : sql``}
    ${filters.search ? sql`and name ilike ${p.search}` : sql``}
    ${filters.state ? sql`and state = ${p.state}` : sql``}`
  return paged(
    sql`select * ${matches} order by id limit ${p.limit} offset ${p.offset}`,
    sql`select ${matches}`,
  )
})
interface Wanted {
  readonly name?: string
  readonly search?: string
  readonly states?: string
}
/** One page of a project's environments, the oldest first. */
export const list = (
  db: Db,
  project_id: number,
  { name, search, states }: Wanted,
  page: Page,
): Promise<Listed<Environment>> =>
  db.page(
    listStatement({ name: name !== undefined, search: search !== undefined, state: states !== undefined }),
    { project_id, name: name ?? '', search: containing(search ?? ''), state: states ?? '', ...page },
  )

const findStatement = selectOne('environments', ['project_id', 'id'])
export const find = (db: Db, { project_id, id }: Key): Promise<Environment | undefined> =>
  db.one(findStatement, { project_id, id })

const columns = ['external_url', 'tier'] as const
type Kept = Pick<Environment, (typeof columns)[number]>

const insertStatement = insertInto('environments', ['project_id', 'name', 'slug', ...columns])
/** Violates `environments_name_key` where the project has an environment of that name. */
export const insert = (
  db: Db,
  row: Kept & Pick<Environment, 'project_id' | 'name' | 'slug'>,
): Promise<Environment> => db.insert(insertStatement, row)

const updateStatement = updateIn('environments', ['project_id', 'id'], columns)
export const update = (db: Db, { project_id, id }: Key, changes: Partial<Kept>): Promise<Environment> =>
  db.update(updateStatement, { project_id, id, ...changes })

const removeStatement = deleteFrom('environments', ['project_id', 'id'])
export const remove = (db: Db, { project_id, id }: Key): Promise<void> =>
  db.remove(removeStatement, { project_id, id })

const lastStatement = statement((p: Slots<{ id: number }>) =>
  withUser(sql`
    select * from deployments where environment_id = ${p.id} and status = 'success'
     order by finished_at desc, id desc limit 1`),
)
/** The last successful deployment. */
export const lastDeployment = (db: Db, id: number): Promise<DeploymentWithUser | undefined> =>
  db.one(lastStatement, { id })

const staleStatement = statement(
  (p: Slots<{ project_id: number; before: Date }>) => sql`
    update environments e set auto_stop_at = clock_timestamp()
     where e.project_id = ${p.project_id} and e.state = 'available' and e.updated_at < ${p.before}::timestamptz
       and not exists (select from deployments d
                        where d.environment_id = e.id and d.updated_at >= ${p.before}::timestamptz)`,
)
/** Has the environments stopped that neither changed nor were deployed to since. */
export const stopStale = (db: Db, project_id: number, before: Date): Promise<number> =>
  db.run(staleStatement, { project_id, before })

const reviewApps = sql`e.state = 'stopped' and e.auto_delete_at is null and e.name like 'review/%'`
const reviewAppsStatement = statement(
  (p: Slots<{ project_id: number; before: Date; limit: number }>) => sql<Environment>`
    select e.* from environments e
     where e.project_id = ${p.project_id} and e.created_at < ${p.before}::timestamptz and ${reviewApps}
     order by e.created_at, e.id limit ${p.limit}`,
)
/** Stopped review apps that are older, the oldest first. */
export const findReviewApps = (
  db: Db,
  where: { readonly project_id: number; readonly before: Date; readonly limit: number },
): Promise<Environment[]> => db.rows(reviewAppsStatement, where)

const deleteLaterStatement = statement(
  (p: Slots<{ project_id: number; ids: readonly number[] }>) => sql`
    update environments e set auto_delete_at = now() + interval '7 days'
     where e.project_id = ${p.project_id} and e.id = any(${p.ids}::bigint[]) and ${reviewApps}`,
)
/** Has them deleted in a week. */
export const deleteLater = (db: Db, project_id: number, ids: readonly number[]): Promise<number> =>
  db.run(deleteLaterStatement, { project_id, ids })

const projectStatement = statements<{ everything: boolean }, Caller & { id: number }, ProjectInGroup>(
  (p, { everything }) => sql`
    with ${mine(p)}
    select p.*, to_json(home) as namespace, '[]'::json as shared_with_groups,
           ${showsCodeOf('p', role, everything)} as shows_code, ${visibleForks(p, 'p', everything)} as forks_count
      from projects p, ${homeOf} n,
           lateral (select h.name, h.path, h.kind, h.full_name, h.full_path, h.parent_id, h.avatar_url
                      from namespaces h where h.id = p.namespace_id) home
     where p.id = ${p.id}`,
)
/** The project as its environments show it to the viewer. */
export async function projectOf(db: Db, viewer: Viewer, id: number): Promise<ProjectInGroup> {
  const values = { id, user_id: viewer.id, open_to: openTo(viewer) }
  return existing(await db.one(projectStatement({ everything: viewer.admin }), values))
}
