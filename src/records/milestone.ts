import { sql, type RawBuilder } from 'kysely'
import { Type as t, type Static } from 'typebox'
import type { Milestone as MilestoneRow } from '../db/schema_planning.ts'
import type { Context } from '../http/gate.ts'
import { date, nullable, oneOf, timestamp } from '../http/schema.ts'

/** A milestone of a project or of a group, which has the id of the one and not of the other. */
export const Milestone = t.Object({
  id: t.Integer(),
  iid: t.Integer(),
  project_id: t.Optional(t.Integer()),
  group_id: t.Optional(t.Integer()),
  title: t.String(),
  description: nullable(t.String()),
  state: oneOf(['active', 'closed']),
  created_at: timestamp(),
  updated_at: timestamp(),
  due_date: nullable(date()),
  start_date: nullable(date()),
  expired: t.Boolean({ description: 'Whether its due date is past' }),
  web_url: t.String(),
})

/** A milestone with the full path of its project or group; moments may still be text, as JSON has them. */
export type MilestoneInPlace = Omit<MilestoneRow, 'created_at' | 'updated_at'> & {
  readonly created_at: Date | string
  readonly updated_at: Date | string
  readonly parent_path: string
}

/** The full path of the parent of the milestone `m`. */
export const milestoneParentPath = sql<string>`coalesce(
  (select p.full_path from projects p where p.id = m.project_id),
  (select n.full_path from namespaces n where n.id = m.group_id))`

/** The milestone with this id as one JSON value for `presentMilestone`; null when there is none. */
export const milestoneJson = (id: RawBuilder<unknown>): RawBuilder<MilestoneInPlace | null> => sql`(
  select to_json(r) from (select m.*, ${milestoneParentPath} as parent_path from milestones m where m.id = ${id}) r)`

/** Today's date in UTC, by which things are due. */
const today = (now: Date): string => now.toISOString().slice(0, 10)

/** What the world sees of a milestone, by itself and inside issues and merge requests. */
export const presentMilestone = (
  row: MilestoneInPlace,
  { config, now }: Pick<Context, 'config' | 'now'>,
): Static<typeof Milestone> => ({
  id: row.id,
  iid: row.iid,
  ...(row.project_id !== null && { project_id: row.project_id }),
  ...(row.group_id !== null && { group_id: row.group_id }),
  title: row.title,
  description: row.description,
  state: row.state,
  created_at: new Date(row.created_at).toISOString(),
  updated_at: new Date(row.updated_at).toISOString(),
  due_date: row.due_date,
  start_date: row.start_date,
  expired: row.due_date !== null && row.due_date < today(now),
  web_url: `${config.url}/${row.group_id === null ? '' : 'groups/'}${row.parent_path}/-/milestones/${row.iid}`,
})
