import { sql, type RawBuilder } from 'kysely'
import { heldBy, ROLES, roleInNamespace, roleInProject } from '../../core/sight/roles.ts'
import type { Db } from '../../db/db.ts'
import { paged, pageStatements, type Listed, type Page } from '../../db/pages.ts'
import type { Runner } from '../../db/schema/ci.ts'
import type { Slots } from '../../db/statement.ts'
import { authorJson } from '../../records/people/user.ts'
import type { ListedRunner } from './entity.ts'

export const STATUSES = ['online', 'offline', 'stale', 'never_contacted', 'active', 'paused'] as const
export type Status = (typeof STATUSES)[number]

/** Which runners: those that the caller manages, all, or those that run jobs of a project or group. */
export interface ListShape {
  readonly of: 'managed' | 'all' | 'project' | 'group'
  readonly type: Runner['runner_type'] | null
  readonly statuses: readonly Status[]
  readonly paused: boolean | null
  readonly tags: boolean
  readonly version: boolean
}
export interface ListValues extends Page {
  readonly user_id: number
  /** Of the project or group; 0 for none. */
  readonly place_id: number
  readonly line: readonly number[]
  readonly tags: readonly string[]
  readonly version: string
}

const ONLINE = sql`r.contacted_at > now() - interval '2 hours'`
const CONDITIONS: Readonly<Record<Status, RawBuilder<unknown>>> = {
  active: sql`not r.paused`,
  paused: sql`r.paused`,
  online: ONLINE,
  offline: sql`not (${ONLINE})`,
  never_contacted: sql`r.contacted_at is null`,
  stale: sql`r.created_at <= now() - interval '7 days'
             and coalesce(r.contacted_at <= now() - interval '7 days', true)`,
}

/** Whether a user manages the runner `r`: as Maintainer of one of its projects, or as Owner of its group. */
export const managedBy = (user: RawBuilder<unknown>): RawBuilder<boolean> => sql`case r.runner_type
  when 'project_type' then exists (
    select from ci_runner_projects rp
      join projects o on o.id = rp.project_id join namespaces n on n.id = o.namespace_id
     where rp.runner_id = r.id
       and ${roleInProject(heldBy(user), sql`o.id`, sql`n.traversal_ids`)} >= ${sql.lit(ROLES.maintainer)})
  when 'group_type' then exists (
    select from namespaces n where n.id = r.group_id
       and ${roleInNamespace(heldBy(user), sql`n.traversal_ids`)} >= ${sql.lit(ROLES.owner)})
  else false end`

/** The columns of a ListedRunner, of the rows `r`. */
export const runnerColumns = sql`r.*, ${authorJson(sql`r.creator_id`)} as created_by,
  exists (select from ci_jobs j where j.runner_id = r.id and j.status in ('running', 'canceling')) as is_busy`

const withinStatement = (p: Slots<ListValues>, of: ListShape['of']): RawBuilder<unknown> => {
  if (of === 'all') return sql`true`
  if (of === 'managed') return managedBy(p.user_id)
  const ofGroup = sql`r.runner_type = 'group_type' and r.group_id = any(${p.line}::bigint[])`
  if (of === 'group') return sql`(r.runner_type = 'instance_type' or ${ofGroup})`
  return sql`(r.runner_type = 'instance_type' or ${ofGroup}
    or exists (select from ci_runner_projects rp where rp.runner_id = r.id and rp.project_id = ${p.place_id}))`
}

const listStatement = pageStatements<ListShape, ListValues, ListedRunner>((p, shape) => {
  const { of, type, statuses, paused, tags, version } = shape
  const conditions = [
    withinStatement(p, of),
    ...(type === null ? [] : [sql`r.runner_type = ${sql.lit(type)}`]),
    ...statuses.map((status) => sql`(${CONDITIONS[status]})`),
    ...(paused === null ? [] : [sql`r.paused = ${sql.lit(paused)}`]),
    ...(tags ? [sql`r.tag_list @> ${p.tags}::text[]`] : []),
    ...(version
      ? [
          sql`exists (select from ci_runner_managers m
                       where m.runner_id = r.id and starts_with(m.version, ${p.version}))`,
        ]
      : []),
  ]
  const matches = sql`from ci_runners r where ${sql.join(conditions, sql` and `)}`
  return paged(
    sql<ListedRunner>`
      select ${runnerColumns} ${matches} order by r.id desc limit ${p.limit} offset ${p.offset}`,
    sql`select ${matches}`,
  )
})
/** The newest runners first. */
export const list = (db: Db, shape: ListShape, values: ListValues): Promise<Listed<ListedRunner>> =>
  db.page(listStatement(shape), values)
