import { sql, type RawBuilder } from 'kysely'
import { Type as t, type Static } from 'typebox'
import { date, nullable, timestamp } from '../http/schema.ts'
import type { Instance } from '../instance.ts'

/** A milestone of a project, or of a group, which bears `group_id` in place of `project_id`. */
export const Milestone = t.Object({
  id: t.Integer(),
  iid: t.Integer(),
  project_id: t.Optional(t.Integer()),
  group_id: t.Optional(t.Integer()),
  title: t.String(),
  description: nullable(t.String()),
  state: t.String(),
  created_at: timestamp(),
  updated_at: timestamp(),
  due_date: nullable(date()),
  start_date: nullable(date()),
  expired: t.Boolean(),
  web_url: t.String(),
})

/** The columns that `milestoneJson` selects. */
export interface MilestoneShown {
  readonly id: number
  readonly iid: number
  readonly project_id: number | null
  readonly group_id: number | null
  readonly title: string
  readonly description: string | null
  readonly state: string
  readonly created_at: Date | string
  readonly updated_at: Date | string
  readonly due_date: string | null
  readonly start_date: string | null
  readonly expired: boolean
  /** Of the project or the group. */
  readonly full_path: string
}

/** The milestone with this id as one JSON value; null when there is none. */
export const milestoneJson = (id: RawBuilder<unknown>): RawBuilder<MilestoneShown | null> => sql`(
  select to_jsonb(m) || jsonb_build_object(
           'expired', coalesce(m.due_date < today(), false), 'full_path', coalesce(mp.full_path, mg.full_path))
    from milestones m left join projects mp on mp.id = m.project_id left join namespaces mg on mg.id = m.group_id
   where m.id = ${id})`

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
