import { sql, type RawBuilder } from 'kysely'
import { Type as t, type Static } from 'typebox'
import { date, nullable, timestamp } from '../http/schema.ts'
import type { Instance } from '../instance.ts'

export const Iteration = t.Object({
  id: t.Integer(),
  iid: t.Integer(),
  sequence: t.Integer(),
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

/** The columns that `iterationJson` selects. */
export interface IterationShown {
  readonly id: number
  readonly iid: number
  readonly sequence: number
  readonly group_id: number
  readonly title: string | null
  readonly description: string | null
  readonly state: number
  readonly created_at: Date | string
  readonly updated_at: Date | string
  readonly start_date: string
  readonly due_date: string
  /** Of the group. */
  readonly full_path: string
}

/** The iteration with this id as one JSON value; null when there is none. */
export const iterationJson = (id: RawBuilder<unknown>): RawBuilder<IterationShown | null> => sql`(
  select to_jsonb(t) || jsonb_build_object(
           'state', case when t.start_date > today() then 1 when t.due_date < today() then 3 else 2 end,
           'full_path', tg.full_path)
    from iterations t join namespaces tg on tg.id = t.group_id where t.id = ${id})`

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
