import { sql } from 'kysely'
import type { Freeze } from '../../core/delivery/freeze_periods.ts'
import type { Db } from '../../db/db.ts'
import { paged, pageStatement, type Listed, type Page } from '../../db/pages.ts'
import { deleteFrom, insertInto, selectOne, updateIn } from '../../db/rows.ts'
import type { Slots } from '../../db/statement.ts'
import { keysOf } from '../../http/params/schema.ts'
import { fields, type Row } from './entity.ts'

const columns = keysOf(fields)
type Key = Pick<Row, 'project_id' | 'id'>

const listStatement = pageStatement((p: Slots<{ project_id: number } & Page>) =>
  paged(
    sql<Row>`
      select * from freeze_periods where project_id = ${p.project_id}
       order by created_at, id limit ${p.limit} offset ${p.offset}`,
    sql`select from freeze_periods where project_id = ${p.project_id}`,
  ),
)
/** One page of a project's freeze periods, the oldest first. */
export const list = (db: Db, project_id: number, page: Page): Promise<Listed<Row>> =>
  db.page(listStatement, { project_id, ...page })

const findStatement = selectOne('freeze_periods', ['project_id', 'id'])
export const find = (db: Db, key: Key): Promise<Row | undefined> => db.one(findStatement, key)

const insertStatement = insertInto('freeze_periods', ['project_id', ...columns])
export const insert = (db: Db, row: Freeze & { project_id: number }): Promise<Row> =>
  db.insert(insertStatement, row)

const updateStatement = updateIn('freeze_periods', ['project_id', 'id'], columns)
export const update = (db: Db, key: Key, changes: Partial<Freeze>): Promise<Row> =>
  db.update(updateStatement, { project_id: key.project_id, id: key.id, ...changes })

const removeStatement = deleteFrom('freeze_periods', ['project_id', 'id'])
export const remove = (db: Db, key: Key): Promise<void> => db.remove(removeStatement, key)
