import { sql, type RawBuilder } from 'kysely'
import { Type as t, type Static } from 'typebox'
import type { Iteration as IterationRow } from '../db/schema_planning.ts'
import type { Context } from '../http/gate.ts'
import { date, nullable, timestamp } from '../http/schema.ts'

export const Iteration = t.Object({
  id: t.Integer(),
  iid: t.Integer(),
  sequence: t.Integer({ description: 'Its place in the cadence' }),
  group_id: t.Integer(),
  title: nullable(t.String()),
  description: nullable(t.String()),
  state: t.Integer({ description: '1 upcoming, 2 current, 3 closed' }),
  created_at: timestamp(),
  updated_at: timestamp(),
  start_date: nullable(date()),
  due_date: nullable(date()),
  web_url: t.String(),
})

/** An iteration with the full path of its group; moments may still be text, as JSON has them. */
export type IterationInPlace = Omit<IterationRow, 'created_at' | 'updated_at'> & {
  readonly created_at: Date | string
  readonly updated_at: Date | string
  readonly group_path: string
}

/** The iteration with this id as one JSON value for `presentIteration`; null when there is none. */
export const iterationJson = (id: RawBuilder<unknown>): RawBuilder<IterationInPlace | null> => sql`(
  select to_json(r) from (select t.*, n.full_path as group_path from iterations t
                            join namespaces n on n.id = t.group_id where t.id = ${id}) r)`

/** Its dates say what it is: those of a day still to come, of today, or of the past, in UTC. */
const stateOf = ({ start_date, due_date }: IterationInPlace, now: Date): number => {
  const today = now.toISOString().slice(0, 10)
  if (start_date > today) return 1
  return due_date < today ? 3 : 2
}

/** What the world sees of an iteration, by itself and inside issues. */
export const presentIteration = (
  row: IterationInPlace,
  { config, now }: Pick<Context, 'config' | 'now'>,
): Static<typeof Iteration> => ({
  id: row.id,
  iid: row.iid,
  sequence: row.sequence,
  group_id: row.group_id,
  title: row.title,
  description: row.description,
  state: stateOf(row, now),
  created_at: new Date(row.created_at).toISOString(),
  updated_at: new Date(row.updated_at).toISOString(),
  start_date: row.start_date,
  due_date: row.due_date,
  web_url: `${config.url}/groups/${row.group_path}/-/iterations/${row.iid}`,
})
