import { sql, type RawBuilder } from 'kysely'
import { Type as t, type Static } from 'typebox'
import type { Iteration as IterationRow } from '../../db/schema/planning.ts'
import { date, nullable, timestamp } from '../../http/params/schema.ts'
import type { Instance } from '../../instance.ts'

export const Iteration = t.Object({
  id: t.Integer(),
  iid: t.Integer(),
  sequence: t.Integer({ description: 'Its place in its cadence' }),
  group_id: t.Integer(),
  title: nullable(t.String()),
  description: nullable(t.String()),
  state: t.Integer({ description: '1 upcoming, 2 current, 3 closed' }),
  created_at: timestamp(),
  updated_at: timestamp(),
  start_date: date(),
  due_date: date(),
  web_url: t.String(),
})

/** An iteration with what is shown around it; moments may still be text, as JSON has them. */
export type IterationShown = Omit<IterationRow, 'created_at' | 'updated_at'> & {
  readonly created_at: Date | string
  readonly updated_at: Date | string
  readonly state: number
  /** Of the group. */
  readonly full_path: string
}

/** The iterations that `chosen` selects, in no order, with all that is shown of them. Their dates say their state. */
export const shownIterations = (chosen: RawBuilder<unknown>): RawBuilder<IterationShown> => sql`
  select t.*, case when t.start_date > today() then 1 when t.due_date < today() then 3 else 2 end as state,
         (select tg.full_path from namespaces tg where tg.id = t.group_id) as full_path
    from (${chosen}) t`

/** The iteration with this id as one JSON value; null when there is none. */
export const iterationJson = (id: RawBuilder<unknown>): RawBuilder<IterationShown | null> => sql`(
  select to_json(r) from (${shownIterations(sql`select * from iterations where id = ${id}`)}) r)`

/** An iteration, by itself and inside issues. */
export const presentIteration = (
  row: IterationShown,
  { config }: Pick<Instance, 'config'>,
): Static<typeof Iteration> => ({
  id: row.id,
  iid: row.iid,
  sequence: row.sequence,
  group_id: row.group_id,
  title: row.title,
  description: row.description,
  state: row.state,
  created_at: new Date(row.created_at).toISOString(),
  updated_at: new Date(row.updated_at).toISOString(),
  start_date: row.start_date,
  due_date: row.due_date,
  web_url: `${config.url}/groups/${row.full_path}/-/iterations/${row.iid}`,
})
