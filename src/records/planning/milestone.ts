import { sql, type RawBuilder } from 'kysely'
import { Type as t, type Static } from 'typebox'
import type { Milestone as MilestoneRow } from '../../db/schema/planning.ts'
import { date, nullable, oneOf, timestamp } from '../../http/params/schema.ts'
import type { Instance } from '../../instance.ts'

/** A milestone of a project, or of a group, which bears `group_id` in place of `project_id`. */
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
  expired: t.Boolean({ description: 'Whether its due date is past, in UTC' }),
  web_url: t.String(),
})

/** A milestone with what is shown around it; moments may still be text, as JSON has them. */
export type MilestoneShown = Omit<MilestoneRow, 'created_at' | 'updated_at'> & {
  readonly created_at: Date | string
  readonly updated_at: Date | string
  readonly expired: boolean
  /** Of the project or the group. */
  readonly full_path: string
}

/** Columns of a presented milestone `m` beside its own. */
const around = sql`
  coalesce(m.due_date < today(), false) as expired,
  coalesce((select mp.full_path from projects mp where mp.id = m.project_id),
           (select mg.full_path from namespaces mg where mg.id = m.group_id)) as full_path`

/** The milestones that `chosen` selects, in no order, with all that is shown of them: one part of a statement. */
export const shownMilestones = (chosen: RawBuilder<unknown>): RawBuilder<MilestoneShown> =>
  sql`select m.*, ${around} from (${chosen}) m`

/** The milestone with this id as one JSON value; null when there is none. */
export const milestoneJson = (id: RawBuilder<unknown>): RawBuilder<MilestoneShown | null> => sql`(
  select to_json(r) from (${shownMilestones(sql`select * from milestones where id = ${id}`)}) r)`

/** A milestone, by itself and inside issues and merge requests. */
export const presentMilestone = (
  row: MilestoneShown,
  { config }: Pick<Instance, 'config'>,
): Static<typeof Milestone> => ({
  id: row.id,
  iid: row.iid,
  ...(row.project_id === null ? { group_id: row.group_id ?? 0 } : { project_id: row.project_id }),
  title: row.title,
  description: row.description,
  state: row.state,
  created_at: new Date(row.created_at).toISOString(),
  updated_at: new Date(row.updated_at).toISOString(),
  due_date: row.due_date,
  start_date: row.start_date,
  expired: row.expired,
  web_url: `${config.url}/${row.project_id === null ? 'groups/' : ''}${row.full_path}/-/milestones/${row.iid}`,
})
