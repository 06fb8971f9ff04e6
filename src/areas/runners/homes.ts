import { sql } from 'kysely'
import type { RunnerPlace } from '../../ci/runners/registration.ts'
import type { Db } from '../../db/db.ts'
import { statement, type Slots } from '../../db/statement.ts'
import { INSTANCE, type Home } from './creation.ts'

const lineStatement = statement(
  (p: Slots<RunnerPlace>) => sql<{ traversal_ids: number[] }>`
    select traversal_ids from namespaces
     where id = coalesce(${p.group_id}, (select namespace_id from projects where id = ${p.project_id}))`,
)
/** The home of runners that belong to a place; undefined where it is gone. */
export async function homeOf(db: Db, place: RunnerPlace): Promise<Home | undefined> {
  if (place.group_id === null && place.project_id === null) return INSTANCE
  const row = await db.one(lineStatement, place)
  return row && { place, traversal_ids: row.traversal_ids }
}
