import { sql } from 'kysely'
import type { Db } from '../../db/db.ts'
import type { Milestone } from '../../db/schema/planning.ts'
import { q, statement, type Slots } from '../../db/statement.ts'

type Titled = Pick<Milestone, 'id' | 'title'>
const milestone = statement(
  (p: Slots<{ id: number; project_id: number; line: readonly number[] }>) => sql<Titled>`
    select id, title from milestones
     where id = ${p.id} and (project_id = ${p.project_id} or group_id = any(${p.line}::bigint[]))
       for key share`,
)
interface Place {
  readonly id: number
  readonly traversal_ids: readonly number[]
}
/** A milestone of the project or of a group above it; it stays until the transaction ends. */
export const findMilestone = (db: Db, project: Place, id: number): Promise<Titled | undefined> =>
  db.one(milestone, { id, project_id: project.id, line: project.traversal_ids })

const titleOfMilestone = statement((p: Slots<{ id: number }>) =>
  q.selectFrom('milestones').select(['id', 'title']).where('id', '=', p.id),
)
export const milestoneTitle = async (db: Db, id: number): Promise<string> =>
  (await db.one(titleOfMilestone, { id }))?.title ?? ''
