import { sql } from 'kysely'
import type { Freeze } from '../../core/freeze_periods.ts'
import type { Db } from '../../db/client.ts'
import type { FreezePeriod } from '../../db/schema_freeze_periods.ts'
import { paged, pageStatement, type Listed } from '../../db/pages.ts'
import { q, statement, type Slots } from '../../db/statement.ts'

const listStatement = pageStatement((p: Slots<{ project_id: number; limit: number; offset: number }>) =>
  paged(
    sql<FreezePeriod>`
      select * from freeze_periods where project_id = ${p.project_id}
       order by created_at, id limit ${p.limit} offset ${p.offset}`,
    sql`select from freeze_periods where project_id = ${p.project_id}`,
  ),
)
/** One page, the oldest first. */
export const list = (
  db: Db,
  projectId: number,
  page: { readonly limit: number; readonly offset: number },
): Promise<Listed<FreezePeriod>> => db.page(listStatement, { project_id: projectId, ...page })

const findStatement = statement((p: Slots<{ project_id: number; id: number }>) =>
  q.selectFrom('freeze_periods').selectAll().where('project_id', '=', p.project_id).where('id', '=', p.id),
)
export const find = (db: Db, projectId: number, id: number): Promise<FreezePeriod | undefined> =>
  db.one(findStatement, { project_id: projectId, id })

const insertStatement = statement(
  (p: Slots<Freeze & { project_id: number }>) => sql<FreezePeriod>`
    insert into freeze_periods (project_id, freeze_start, freeze_end, cron_timezone)
    values (${p.project_id}, ${p.freeze_start}, ${p.freeze_end}, ${p.cron_timezone}) returning *`,
)
export async function insert(db: Db, projectId: number, freeze: Freeze): Promise<FreezePeriod> {
  return db.insert(insertStatement, { project_id: projectId, ...freeze })
}

/** What is null stays as it is. */
interface Changes {
  readonly freeze_start: string | null
  readonly freeze_end: string | null
  readonly cron_timezone: string | null
}
const updateStatement = statement(
  (p: Slots<Changes & { project_id: number; id: number }>) => sql<FreezePeriod>`
    update freeze_periods
       set freeze_start = coalesce(${p.freeze_start}, freeze_start),
           freeze_end = coalesce(${p.freeze_end}, freeze_end),
           cron_timezone = coalesce(${p.cron_timezone}, cron_timezone), updated_at = now()
     where project_id = ${p.project_id} and id = ${p.id} returning *`,
)
export const update = (
  db: Db,
  { project_id, id }: Pick<FreezePeriod, 'project_id' | 'id'>,
  changes: Changes,
): Promise<FreezePeriod> => db.update(updateStatement, { project_id, id, ...changes })

const removeStatement = statement((p: Slots<{ project_id: number; id: number }>) =>
  q.deleteFrom('freeze_periods').where('project_id', '=', p.project_id).where('id', '=', p.id),
)
export const remove = (db: Db, { project_id, id }: Pick<FreezePeriod, 'project_id' | 'id'>): Promise<void> =>
  db.remove(removeStatement, { project_id, id })
