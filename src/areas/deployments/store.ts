import { sql } from 'kysely'
import { seesMergeRequestsOf } from '../../core/sight/merge_requests.ts'
import { homeOf, openTo, type Viewer } from '../../core/sight/roles.ts'
import { isSwitchedOn } from '../../core/sight/features.ts'
import { mine, type Caller } from '../../core/sight/callers.ts'
import { nextInProject } from '../../core/values/counters.ts'
import type { Db } from '../../db/db.ts'
import { paged, pageStatements, type Listed, type Page } from '../../db/pages.ts'
import { deleteFrom, insertInto } from '../../db/rows.ts'
import type { Deployment, DeploymentStatus, Environment } from '../../db/schema/delivery.ts'
import { statement, type Slots } from '../../db/statement.ts'
import { withUser, type DeploymentWithUser } from '../../records/jobs/deployment.ts'
import { shownMergeRequests, type MergeRequestShown } from '../../records/merge_requests/merge_request.ts'

type Key = Pick<Deployment, 'project_id' | 'id'>

export const ORDERS = ['id', 'iid', 'created_at', 'updated_at', 'finished_at', 'ref'] as const

export interface Shape {
  readonly by: (typeof ORDERS)[number]
  readonly desc: boolean
  readonly environment: boolean
  readonly status: boolean
  /** The column that the time filters are about; null without them. */
  readonly timed: 'updated_at' | 'finished_at' | null
}
export type Values = Page & {
  readonly project_id: number
  readonly environment: string
  readonly status: string
  readonly after: Date | null
  readonly before: Date | null
}

/** Numbers and times of creation grow with ids. */
const columnOf = (by: Shape['by']): string => (by === 'iid' || by === 'created_at' ? 'id' : by)

const listStatement = pageStatements<Shape, Values, DeploymentWithUser>((p, shape) => {
  const { by, desc, environment, status, timed } = shape
  const matches = sql`
    from deployments d where d.project_id = ${p.project_id}
    ${
      environment
        ? sql`and d.environment_id = (select e.id from environments e
                                       where e.project_id = ${p.project_id} and e.name = ${p.environment})`
        : sql``
    }
    ${status ? sql`and d.status = ${p.status}` : sql``}
    ${
      timed === null
        ? sql``
        : sql`and (${p.after}::timestamptz is null or ${sql.ref(`d.${timed}`)} > ${p.after}::timestamptz)
              and (${p.before}::timestamptz is null or ${sql.ref(`d.${timed}`)} < ${p.before}::timestamptz)`
    }`
  const column = columnOf(by)
  const way = sql.raw(desc ? 'desc' : 'asc')
  const order =
    column === 'id' ? sql`d.id ${way}` : sql`${sql.ref(`d.${column}`)} ${way} nulls last, d.id desc`
  return paged(
    sql`${withUser(sql`select d.* ${matches} order by ${order} limit ${p.limit} offset ${p.offset}`)} order by ${order}`,
    sql`select ${matches}`,
  )
})
export const list = (db: Db, shape: Shape, values: Values): Promise<Listed<DeploymentWithUser>> =>
  db.page(listStatement(shape), values)

const findStatement = statement((p: Slots<Key>) =>
  withUser(sql`select * from deployments where project_id = ${p.project_id} and id = ${p.id}`),
)
export const find = (db: Db, { project_id, id }: Key): Promise<DeploymentWithUser | undefined> =>
  db.one(findStatement, { project_id, id })

const environmentStatement = statement(
  (p: Slots<Pick<Environment, 'project_id' | 'name' | 'slug' | 'tier'>>) => sql<{ id: number }>`
    with made as (
      insert into environments (project_id, name, slug, tier) values (${p.project_id}, ${p.name}, ${p.slug}, ${p.tier})
      on conflict do nothing returning id)
    select id from made
    union all
    select id from environments where project_id = ${p.project_id} and name = ${p.name}
    limit 1`,
)
/** The id of the project's environment of that name, which is made where there is none. */
export const keepEnvironment = (
  db: Db,
  row: Pick<Environment, 'project_id' | 'name' | 'slug' | 'tier'>,
): Promise<{ id: number } | undefined> => db.one(environmentStatement, row)

const columns = ['environment_id', 'user_id', 'ref', 'tag', 'sha', 'status', 'finished_at'] as const
type Kept = Pick<Deployment, (typeof columns)[number]>
const insertStatement = insertInto('deployments', ['project_id', 'iid', ...columns])
export async function insert(db: Db, row: Kept & { readonly project_id: number }): Promise<Deployment> {
  const iid = await nextInProject(db, row.project_id, 'deployments')
  return db.insert(insertStatement, { ...row, iid })
}

const statusStatement = statement(
  (p: Slots<Key & { status: DeploymentStatus; from: readonly string[] }>) => sql<Deployment>`
    update deployments set status = ${p.status}, updated_at = now(),
           finished_at = case when ${p.status}::text = 'running' then finished_at else now() end
     where project_id = ${p.project_id} and id = ${p.id} and job_id is null and status = any(${p.from}::text[])
    returning *`,
)
/** The deployment in its new status; undefined where it was in none of the states `from`. */
export const setStatus = async (
  db: Db,
  { project_id, id }: Key,
  change: { readonly status: DeploymentStatus; readonly from: readonly DeploymentStatus[] },
): Promise<Deployment | undefined> => db.one(statusStatement, { project_id, id, ...change })

const lastStatement = statement(
  (p: Slots<{ environment_id: number }>) => sql<{ id: number }>`
    select id from deployments where environment_id = ${p.environment_id} and status = 'success'
     order by finished_at desc, id desc limit 1`,
)
/** Whether the deployment is the one that its environment shows. */
export const isLast = async (db: Db, { id, environment_id }: Deployment): Promise<boolean> =>
  (await db.one(lastStatement, { environment_id }))?.id === id

const removeStatement = deleteFrom('deployments', ['project_id', 'id'])
export const remove = (db: Db, { project_id, id }: Key): Promise<void> =>
  db.remove(removeStatement, { project_id, id })

const mergeRequestsStatement = pageStatements<
  { everything: boolean },
  Caller & Page & { deployment_id: number },
  MergeRequestShown
>((p, { everything }) => {
  const sees = everything ? isSwitchedOn('merge_requests') : seesMergeRequestsOf(p.open_to)
  const found = sql`
    from deployment_merge_requests l join merge_requests m on m.id = l.merge_request_id
         join projects p on p.id = m.project_id, ${homeOf} n
   where l.deployment_id = ${p.deployment_id} and ${sees}`
  const caller = sql`with ${mine(p)}`
  return paged(
    shownMergeRequests(
      sql`${caller} select m.id ${found} order by m.id desc limit ${p.limit} offset ${p.offset}`,
    ),
    sql`${caller} select ${found}`,
  )
})
/** The merge requests that a deployment shipped, as far as the viewer sees them, the newest first. */
export const listMergeRequests = (
  db: Db,
  viewer: Viewer,
  deployment_id: number,
  page: Page,
): Promise<Listed<MergeRequestShown>> =>
  db.page(mergeRequestsStatement({ everything: viewer.admin }), {
    user_id: viewer.id,
    open_to: openTo(viewer),
    deployment_id,
    ...page,
  })
