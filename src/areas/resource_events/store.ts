import { sql, type RawBuilder } from 'kysely'
import type { Db } from '../../db/db.ts'
import { paged, pageStatement, type Listed, type PageStatement } from '../../db/pages.ts'
import { statement, type Slots, type Statement } from '../../db/statement.ts'
import { iterationJson } from '../../records/planning/iteration.ts'
import { milestoneJson } from '../../records/planning/milestone.ts'
import { authorJson } from '../../records/people/user.ts'
import type {
  IterationEventShown,
  LabelEventShown,
  MilestoneEventShown,
  StateEventShown,
  WeightEventShown,
} from './entity.ts'

interface Page {
  readonly limit: number
  readonly offset: number
}
export interface Family<Row> {
  readonly list: PageStatement<{ noteable_id: number } & Page, Row>
  readonly one: Statement<{ noteable_id: number; id: number }, Row>
}

/** The statements of one table of events, which hang on a record by the column `on`. */
function family<Row>(table: string, on: string, more: RawBuilder<unknown>): Family<Row> {
  const from = sql`from ${sql.table(table)} e`
  const owner = sql.ref(`e.${on}`)
  const shown = sql`
    select e.id, e.created_at, ${owner} as resource_id, ${authorJson(sql`e.user_id`)} as "user", ${more} ${from}`
  return {
    list: pageStatement((p: Slots<{ noteable_id: number } & Page>) =>
      paged(
        sql<Row>`${shown} where ${owner} = ${p.noteable_id} order by e.id limit ${p.limit} offset ${p.offset}`,
        sql`select ${from} where ${owner} = ${p.noteable_id}`,
      ),
    ),
    one: statement(
      (p: Slots<{ noteable_id: number; id: number }>) =>
        sql<Row>`${shown} where ${owner} = ${p.noteable_id} and e.id = ${p.id}`,
    ),
  }
}

export const LABEL = family<LabelEventShown>(
  'resource_label_events',
  'noteable_id',
  sql`e.action, (
    select json_build_object('id', l.id, 'title', l.title, 'color', l.color, 'description', l.description)
      from labels l where l.id = e.label_id) as label`,
)
export const STATE = family<StateEventShown>('resource_state_events', 'noteable_id', sql`e.state`)
export const MILESTONE = family<MilestoneEventShown>(
  'resource_milestone_events',
  'noteable_id',
  sql`e.action, e.state, ${milestoneJson(sql`e.milestone_id`)} as milestone`,
)
export const WEIGHT = family<WeightEventShown>('resource_weight_events', 'issue_id', sql`e.weight`)
export const ITERATION = family<IterationEventShown>(
  'resource_iteration_events',
  'issue_id',
  sql`e.action, ${iterationJson(sql`e.iteration_id`)} as iteration`,
)

/** Events of a record, oldest first. */
export const listEvents = <Row>(
  db: Db,
  { list }: Family<Row>,
  noteableId: number,
  page: Page,
): Promise<Listed<Row>> => db.page(list, { noteable_id: noteableId, ...page })

export const findEvent = <Row>(
  db: Db,
  { one }: Family<Row>,
  noteableId: number,
  id: number,
): Promise<Row | undefined> => db.one(one, { noteable_id: noteableId, id })
