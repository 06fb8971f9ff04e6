import { sql } from 'kysely'
import type { Db } from '../../db/client.ts'
import { paged, pageStatement, type Listed } from '../../db/pages.ts'
import type { PackageProtectionRule as Rule } from '../../db/schema_packages.ts'
import { q, statement, type Slots } from '../../db/statement.ts'

/** What a caller sets of a rule. */
export type RuleValues = Pick<
  Rule,
  | 'package_name_pattern'
  | 'package_type'
  | 'minimum_access_level_for_push'
  | 'minimum_access_level_for_delete'
>

const findStatement = statement((p: Slots<{ project_id: number; id: number }>) =>
  q
    .selectFrom('package_protection_rules')
    .selectAll()
    .where('project_id', '=', p.project_id)
    .where('id', '=', p.id),
)
const listStatement = pageStatement((p: Slots<{ project_id: number; limit: number; offset: number }>) =>
  paged(
    sql<Rule>`select * from package_protection_rules where project_id = ${p.project_id}
               order by id limit ${p.limit} offset ${p.offset}`,
    sql`select from package_protection_rules where project_id = ${p.project_id}`,
  ),
)
const insertStatement = statement((p: Slots<RuleValues & { project_id: number }>) =>
  q
    .insertInto('package_protection_rules')
    .values({
      project_id: p.project_id,
      package_name_pattern: p.package_name_pattern,
      package_type: p.package_type,
      minimum_access_level_for_push: p.minimum_access_level_for_push,
      minimum_access_level_for_delete: p.minimum_access_level_for_delete,
    })
    .returningAll(),
)
const updateStatement = statement(
  (p: Slots<RuleValues & { project_id: number; id: number }>) => sql<Rule>`
    update package_protection_rules
       set package_name_pattern = ${p.package_name_pattern}, package_type = ${p.package_type},
           minimum_access_level_for_push = ${p.minimum_access_level_for_push},
           minimum_access_level_for_delete = ${p.minimum_access_level_for_delete}, updated_at = now()
     where project_id = ${p.project_id} and id = ${p.id} returning *`,
)
const removeStatement = statement((p: Slots<{ project_id: number; id: number }>) =>
  q.deleteFrom('package_protection_rules').where('project_id', '=', p.project_id).where('id', '=', p.id),
)

export const find = (db: Db, projectId: number, id: number): Promise<Rule | undefined> =>
  db.one(findStatement, { project_id: projectId, id })

export const list = (
  db: Db,
  projectId: number,
  page: { readonly limit: number; readonly offset: number },
): Promise<Listed<Rule>> =>
  db.page(listStatement, { project_id: projectId, limit: page.limit, offset: page.offset })

/** Violates `package_protection_rules_pattern_key` when the project has that pattern for that type. */
export const insert = (db: Db, projectId: number, values: RuleValues): Promise<Rule | undefined> =>
  db.one(insertStatement, { project_id: projectId, ...values })

/** The same for a rule that is there; undefined when it is gone. */
export const update = (
  db: Db,
  projectId: number,
  { id, ...values }: RuleValues & { readonly id: number },
): Promise<Rule | undefined> => db.one(updateStatement, { project_id: projectId, id, ...values })

export const remove = (db: Db, projectId: number, id: number): Promise<number> =>
  db.run(removeStatement, { project_id: projectId, id })
