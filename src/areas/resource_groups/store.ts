import { sql } from 'kysely'
import { UPCOMING, type ProcessMode } from '../../ci/resource_assignment.ts'
import type { Db } from '../../db/db.ts'
import { paged, pageStatement, pageStatements, type Listed } from '../../db/pages.ts'
import type { Job, ResourceGroup } from '../../db/schema/ci.ts'
import { q, statement, type Slots } from '../../db/statement.ts'

interface Page {
  readonly limit: number
  readonly offset: number
}
const listStatement = pageStatement((p: Slots<{ project_id: number; limit: number; offset: number }>) => {
  const matches = sql<ResourceGroup>`select * from resource_groups where project_id = ${p.project_id}`
  return paged(sql<ResourceGroup>`${matches} order by id limit ${p.limit} offset ${p.offset}`, matches)
})
/** One page of a project's resource groups, the oldest first. */
export const list = (db: Db, projectId: number, { limit, offset }: Page): Promise<Listed<ResourceGroup>> =>
  db.page(listStatement, { project_id: projectId, limit: limit, offset })

const findStatement = statement((p: Slots<{ project_id: number; key: string }>) =>
  q.selectFrom('resource_groups').selectAll().where('project_id', '=', p.project_id).where('key', '=', p.key),
)
export const find = (db: Db, projectId: number, key: string): Promise<ResourceGroup | undefined> =>
  db.one(findStatement, { project_id: projectId, key })

const upcomingStatement = pageStatements<
  { mode: ProcessMode },
  { id: number; limit: number; offset: number },
  Job
>((p, { mode }) => {
  const matches = sql`from ci_jobs j where j.resource_group_id = ${p.id} and ${UPCOMING[mode].states}`
  return paged(
    sql<Job>`select j.* ${matches} order by ${UPCOMING[mode].order} limit ${p.limit} offset ${p.offset}`,
    sql`select ${matches}`,
  )
})
/** The jobs that wait for the group's resource, in the order in which they will run. */
export const listUpcoming = (
  db: Db,
  { id, process_mode }: ResourceGroup,
  { limit, offset }: Page,
): Promise<Listed<Job>> => db.page(upcomingStatement({ mode: process_mode }), { id, limit: limit, offset })
