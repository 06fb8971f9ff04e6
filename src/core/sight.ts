import { sql, type RawBuilder } from 'kysely'
import { ROLES, belongsBelow, heldBy, roleInNamespace, roleInProject } from './roles.ts'
import type { Visibility } from '../db/schema.ts'

// What a caller may see, as parts of statements that name a project `p` and a namespace `n`.

export interface Caller {
  readonly user_id: number | null
  readonly open_to: readonly Visibility[]
}
export type CallerSlots = { readonly [Name in keyof Caller]: RawBuilder<Caller[Name]> }

export const role = sql`coalesce(${roleInProject(sql`mine`, sql`p.id`, sql`n.traversal_ids`)}, 0)`
export const mine = (p: CallerSlots): RawBuilder<unknown> =>
  sql`mine as materialized (select * from ${heldBy(p.user_id)} g)`
export const seesProject = (p: CallerSlots, everything: boolean): RawBuilder<unknown> =>
  everything ? sql`true` : sql`(p.visibility = any(${p.open_to}) or ${role} >= ${sql.lit(ROLES.guest)})`

const issuesLevel = sql`coalesce(p.settings->>'issues_access_level',
  case when p.settings->>'issues_enabled' = 'false' then 'disabled' else 'enabled' end)`
/** Whether issues are switched on in the project `p` for a caller who sees it and is no administrator. */
export const hasIssues = sql`(
  case ${issuesLevel} when 'enabled' then true when 'private' then ${role} >= ${sql.lit(ROLES.guest)} else false end)`

/** As the gate of a group has it: by visibility, by a role, or by belonging to something inside. */
export const seesGroup = (p: CallerSlots, everything: boolean): RawBuilder<unknown> =>
  everything
    ? sql`true`
    : sql`(n.visibility = any(${p.open_to})
           or coalesce(${roleInNamespace(sql`mine`, sql`n.traversal_ids`)} >= ${sql.lit(ROLES.minimal_access)},
                       ${belongsBelow(sql`mine`, sql`n.id`)}))`
