import { sql } from 'kysely'
import type { Db } from '../../db/db.ts'
import { paged, pageStatement, type Listed, type Page } from '../../db/pages.ts'
import { deleteFrom, insertInto, selectOne, updateIn } from '../../db/rows.ts'
import type { PackageProtectionRule as Rule } from '../../db/schema/packages.ts'
import type { Slots } from '../../db/statement.ts'

const TABLE = 'package_protection_rules'
const COLUMNS = [
  'package_name_pattern',
  'package_type',
  'minimum_access_level_for_push',
  'minimum_access_level_for_delete',
] as const

/** The columns of a rule that callers write. */
export type RuleValues = Pick<Rule, (typeof COLUMNS)[number]>
type Key = Pick<Rule, 'project_id' | 'id'>

const findStatement = selectOne(TABLE, ['project_id', 'id'])
export const find = (db: Db, key: Key): Promise<Rule | undefined> => db.one(findStatement, key)

const listStatement = pageStatement((p: Slots<{ project_id: number } & Page>) =>
  paged(
    sql<Rule>`select * from package_protection_rules where project_id = ${p.project_id}
               order by id limit ${p.limit} offset ${p.offset}`,
    sql`select from package_protection_rules where project_id = ${p.project_id}`,
  ),
)
export const list = (db: Db, project_id: number, page: Page): Promise<Listed<Rule>> =>
  db.page(listStatement, { project_id, ...page })

const insertStatement = insertInto(TABLE, ['project_id', ...COLUMNS])
/** Violates `package_protection_rules_pattern_key` when the project has that pattern for that type. */
export const insert = (db: Db, row: RuleValues & { project_id: number }): Promise<Rule> =>
  db.insert(insertStatement, row)

const updateStatement = updateIn(TABLE, ['project_id', 'id'], COLUMNS)
/** Violates the same constraint. */
export const update = (db: Db, values: RuleValues & Key): Promise<Rule> => db.update(updateStatement, values)

const removeStatement = deleteFrom(TABLE, ['project_id', 'id'])
export const remove = (db: Db, key: Key): Promise<void> => db.remove(removeStatement, key)
