import { sql, type RawBuilder } from 'kysely'
import type { Db } from '../../db/db.ts'
import { paged, pageStatements, type Listed, type Page } from '../../db/pages.ts'
import { deleteFrom, insertInto, selectOne, updateIn } from '../../db/rows.ts'
import type { Pipeline } from '../../db/schema/repositories.ts'
import type { PipelineSchedule, PipelineScheduleVariable } from '../../db/schema/delivery.ts'
import { statement, type Slots } from '../../db/statement.ts'
import { authorJson } from '../../records/people/user.ts'
import type { ScheduleWithOwner } from './entity.ts'

type Key = Pick<PipelineSchedule, 'project_id' | 'id'>

const withOwner = (rows: RawBuilder<unknown>): RawBuilder<ScheduleWithOwner> =>
  sql`select s.*, ${authorJson(sql`s.owner_id`)} as owner from (${rows}) s order by s.id`

const listStatement = pageStatements<
  { scope: 'active' | 'inactive' | null },
  { project_id: number } & Page,
  ScheduleWithOwner
>((p, { scope }) => {
  const matches = sql`
    from pipeline_schedules where project_id = ${p.project_id}
    ${scope === null ? sql`` : sql`and active = ${sql.lit(scope === 'active')}`}`
  return paged(
    withOwner(sql`select * ${matches} order by id limit ${p.limit} offset ${p.offset}`),
    sql`select ${matches}`,
  )
})
export const list = (
  db: Db,
  scope: 'active' | 'inactive' | null,
  values: { readonly project_id: number } & Page,
): Promise<Listed<ScheduleWithOwner>> => db.page(listStatement({ scope }), values)

const findStatement = statement((p: Slots<Key>) =>
  withOwner(sql`select * from pipeline_schedules where project_id = ${p.project_id} and id = ${p.id}`),
)
export const find = (db: Db, key: Key): Promise<ScheduleWithOwner | undefined> =>
  db.one(findStatement, { project_id: key.project_id, id: key.id })

/** One schedule of a project is inserted at a time, so that their limit holds. */
const lockProject = statement(
  (p: Slots<{ key: string }>) => sql`select pg_advisory_xact_lock(hashtextextended(${p.key}, 0))`,
)
const countStatement = statement(
  (p: Slots<{ project_id: number }>) => sql<{ count: number }>`
    select count(*)::int as count from pipeline_schedules where project_id = ${p.project_id}`,
)
/** The number of schedules of the project; until the transaction ends no other one is inserted. */
export async function lockAndCount(db: Db, project_id: number): Promise<number> {
  await db.run(lockProject, { key: `pipeline schedules ${project_id}` })
  return (await db.one(countStatement, { project_id }))?.count ?? 0
}

const columns = ['description', 'ref', 'cron', 'cron_timezone', 'active', 'next_run_at', 'owner_id'] as const
export type Kept = Pick<PipelineSchedule, (typeof columns)[number]>

const insertStatement = insertInto('pipeline_schedules', ['project_id', ...columns])
export const insert = (db: Db, row: Kept & { readonly project_id: number }): Promise<PipelineSchedule> =>
  db.insert(insertStatement, row)

const updateStatement = updateIn('pipeline_schedules', ['project_id', 'id'], columns)
export const update = (db: Db, key: Key, changes: Partial<Kept>): Promise<PipelineSchedule> =>
  db.update(updateStatement, { project_id: key.project_id, id: key.id, ...changes })

const removeStatement = deleteFrom('pipeline_schedules', ['project_id', 'id'])
export const remove = (db: Db, key: Key): Promise<void> =>
  db.remove(removeStatement, { project_id: key.project_id, id: key.id })

const lastStatement = statement(
  (p: Slots<{ id: number }>) => sql<Pipeline>`
    select * from pipelines where schedule_id = ${p.id} order by id desc limit 1`,
)
export const lastPipeline = (db: Db, id: number): Promise<Pipeline | undefined> =>
  db.one(lastStatement, { id })

const variableStatement = selectOne('pipeline_schedule_variables', ['schedule_id', 'key'])
export const findVariable = (
  db: Db,
  key: Pick<PipelineScheduleVariable, 'schedule_id' | 'key'>,
): Promise<PipelineScheduleVariable | undefined> => db.one(variableStatement, key)

const insertVariableStatement = insertInto('pipeline_schedule_variables', [
  'schedule_id',
  'key',
  'sealed_value',
  'variable_type',
])
/** Violates `pipeline_schedule_variables_key` where the schedule has a variable of that key. */
export const insertVariable = (
  db: Db,
  row: Pick<PipelineScheduleVariable, 'schedule_id' | 'key' | 'sealed_value' | 'variable_type'>,
): Promise<PipelineScheduleVariable> => db.insert(insertVariableStatement, row)

const updateVariableStatement = updateIn(
  'pipeline_schedule_variables',
  ['schedule_id', 'key'],
  ['sealed_value', 'variable_type'],
)
export const updateVariable = (
  db: Db,
  { schedule_id, key }: Pick<PipelineScheduleVariable, 'schedule_id' | 'key'>,
  changes: Partial<Pick<PipelineScheduleVariable, 'sealed_value' | 'variable_type'>>,
): Promise<PipelineScheduleVariable> => db.update(updateVariableStatement, { schedule_id, key, ...changes })

const removeVariableStatement = deleteFrom('pipeline_schedule_variables', ['schedule_id', 'key'])
export const removeVariable = (
  db: Db,
  { schedule_id, key }: Pick<PipelineScheduleVariable, 'schedule_id' | 'key'>,
): Promise<void> => db.remove(removeVariableStatement, { schedule_id, key })
