import { sql } from 'kysely'
import type { Db } from '../../db/db.ts'
import { paged, pageStatement, type Listed, type Page } from '../../db/pages.ts'
import { deleteFrom, insertInto, selectOne, updateIn } from '../../db/rows.ts'
import { statement, type Slots } from '../../db/statement.ts'
import { keysOf } from '../../http/params/schema.ts'
import { fields, type Row } from './entity.ts'
import type { Link } from './rules.ts'

const columns = keysOf(fields)
type Key = Pick<Row, 'alert_id' | 'id'>

const listStatement = pageStatement((p: Slots<{ alert_id: number } & Page>) =>
  paged(
    sql<Row>`
      select * from alert_metric_images where alert_id = ${p.alert_id}
       order by id limit ${p.limit} offset ${p.offset}`,
    sql`select from alert_metric_images where alert_id = ${p.alert_id}`,
  ),
)
/** One page of an alert's images, the oldest first. */
export const list = (db: Db, alert_id: number, page: Page): Promise<Listed<Row>> =>
  db.page(listStatement, { alert_id, ...page })

const findStatement = selectOne('alert_metric_images', ['alert_id', 'id'])
export const find = (db: Db, key: Key): Promise<Row | undefined> => db.one(findStatement, key)

const findAnywhere = statement(
  (p: Slots<{ id: number }>) => sql<Row & { readonly project_id: number }>`
    select m.*, a.project_id from alert_metric_images m join alerts a on a.id = m.alert_id where m.id = ${p.id}`,
)
/** An image with the project of its alert, whoever asks. */
export const findWithProject = (
  db: Db,
  id: number,
): Promise<(Row & { readonly project_id: number }) | undefined> => db.one(findAnywhere, { id })

type NewImage = Pick<Row, 'alert_id' | 'filename' | 'sha256' | 'size' | 'url' | 'url_text'>
const insertStatement = insertInto('alert_metric_images', [
  'alert_id',
  'filename',
  'sha256',
  'size',
  ...columns,
])
export const insert = (db: Db, image: NewImage): Promise<Row> => db.insert(insertStatement, image)

const updateStatement = updateIn('alert_metric_images', ['alert_id', 'id'], columns)
export const update = (db: Db, { alert_id, id }: Key, changes: Link): Promise<Row> =>
  db.update(updateStatement, { alert_id, id, ...changes })

const removeStatement = deleteFrom('alert_metric_images', ['alert_id', 'id'])
export const remove = (db: Db, key: Key): Promise<void> => db.remove(removeStatement, key)
