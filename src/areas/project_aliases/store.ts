import { sql } from 'kysely'
import type { Db } from '../../db/db.ts'
import type { ProjectAlias } from '../../db/schema/tables.ts'
import { paged, pageStatement, type Listed } from '../../db/pages.ts'
import { q, statement, type Slots } from '../../db/statement.ts'

const findStatement = statement((p: Slots<{ name: string }>) =>
  q.selectFrom('project_aliases').selectAll().where('name', '=', p.name),
)
const listStatement = pageStatement((p: Slots<{ limit: number; offset: number }>) =>
  paged(
    sql<ProjectAlias>`select * from project_aliases order by id limit ${p.limit} offset ${p.offset}`,
    sql`select from project_aliases`,
  ),
)
const insertStatement = statement((p: Slots<{ project_id: number; name: string }>) =>
  q.insertInto('project_aliases').values({ project_id: p.project_id, name: p.name }).returningAll(),
)
const removeStatement = statement((p: Slots<{ id: number }>) =>
  q.deleteFrom('project_aliases').where('id', '=', p.id),
)

export const find = (db: Db, name: string): Promise<ProjectAlias | undefined> =>
  db.one(findStatement, { name })

export const list = (db: Db, page: { limit: number; offset: number }): Promise<Listed<ProjectAlias>> =>
  db.page(listStatement, { ...page })

/** Violates `project_aliases_name_key` when any project has that alias. */
export const insert = (db: Db, projectId: number, name: string): Promise<ProjectAlias> =>
  db.insert(insertStatement, { project_id: projectId, name })

export const remove = (db: Db, id: number): Promise<void> => db.remove(removeStatement, { id })
