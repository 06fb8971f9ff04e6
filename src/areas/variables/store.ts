import { sql, type RawBuilder } from 'kysely'
import type { Db } from '../../db/db.ts'
import { paged, pageStatements, type Listed, type Page } from '../../db/pages.ts'
import type { CiVariable } from '../../db/schema/ci_variables.ts'
import { existing, deleteFrom, updateIn } from '../../db/rows.ts'
import { statement, statements, type Slots } from '../../db/statement.ts'

/** The owner of the variables; the instance has the id 0. */
export interface Owner {
  readonly of: 'project' | 'group' | 'instance'
  readonly id: number
}
type Kind = Pick<Owner, 'of'>
interface OfOwner {
  readonly owner_id: number
}

const owned = (p: Slots<OfOwner>, { of }: Kind): RawBuilder<unknown> => {
  if (of === 'instance') return sql`(project_id is null and group_id is null and ${p.owner_id}::bigint = 0)`
  return of === 'project' ? sql`project_id = ${p.owner_id}` : sql`group_id = ${p.owner_id}`
}

const listStatement = pageStatements<Kind, OfOwner & Page, CiVariable>((p, kind) =>
  paged(
    sql<CiVariable>`select * from ci_variables where ${owned(p, kind)} order by id limit ${p.limit} offset ${p.offset}`,
    sql`select from ci_variables where ${owned(p, kind)}`,
  ),
)
export const list = (db: Db, { of, id }: Owner, page: Page): Promise<Listed<CiVariable>> =>
  db.page(listStatement({ of }), { owner_id: id, ...page })

const findStatement = statements<
  Kind,
  OfOwner & { readonly key: string; readonly scope: string | null },
  CiVariable
>(
  (p, kind) => sql`
    select * from ci_variables
     where ${owned(p, kind)} and key = ${p.key} and environment_scope = coalesce(${p.scope}::text, environment_scope)
     order by id limit 2`,
)
/** The variables of that key, two at most; with a scope, the one of it. */
export const find = (
  db: Db,
  { of, id }: Owner,
  key: string,
  scope: string | null,
): Promise<readonly CiVariable[]> => db.rows(findStatement({ of }), { owner_id: id, key, scope })

/** A variable as it is kept. */
export type Kept = Pick<
  CiVariable,
  | 'key'
  | 'sealed_value'
  | 'variable_type'
  | 'protected'
  | 'masked'
  | 'hidden'
  | 'raw'
  | 'environment_scope'
  | 'description'
>

const insertStatement = statements<Kind, Kept & OfOwner, CiVariable>(
  (p, { of }) => sql`
    insert into ci_variables (project_id, group_id, key, sealed_value, variable_type, protected, masked, hidden, raw,
                              environment_scope, description)
    select case when ${sql.lit(of)} = 'project' then ${p.owner_id}::bigint end,
           case when ${sql.lit(of)} = 'group' then ${p.owner_id}::bigint end,
           ${p.key}, ${p.sealed_value}, ${p.variable_type}, ${p.protected}, ${p.masked}, ${p.hidden}, ${p.raw},
           ${p.environment_scope}, ${p.description}
    returning *`,
)
/** Violates `ci_variables_of_project`, `…_of_group` or `…_of_instance` where the key has that scope already. */
export async function insert(db: Db, { of, id }: Owner, variable: Kept): Promise<CiVariable> {
  return existing((await db.rows(insertStatement({ of }), { ...variable, owner_id: id }))[0])
}

const updateStatement = updateIn(
  'ci_variables',
  ['id'],
  [
    'sealed_value',
    'variable_type',
    'protected',
    'masked',
    'hidden',
    'raw',
    'environment_scope',
    'description',
  ],
)
/** Violates the same constraints as `insert`. */
export const update = (db: Db, id: number, { key: _key, ...variable }: Kept): Promise<CiVariable> =>
  db.update(updateStatement, { ...variable, id })

const removeStatement = deleteFrom('ci_variables', ['id'])
export const remove = (db: Db, id: number): Promise<void> => db.remove(removeStatement, { id })

/** One variable of the instance is inserted at a time, so that their limit holds. */
const lockInstance = statement(() => sql`select pg_advisory_xact_lock(7163081)`)
const countStatement = statement(
  () => sql<{ count: number }>`
    select count(*)::int as count from ci_variables where project_id is null and group_id is null`,
)
/** The number of variables of the instance; until the transaction ends no other one is inserted. */
export async function lockAndCount(db: Db): Promise<number> {
  await db.run(lockInstance, {})
  return (await db.one(countStatement, {}))?.count ?? 0
}
