import { sql, type RawBuilder } from 'kysely'
import { ROLES, roleInProject } from './roles.ts'

const level = sql`coalesce(${roleInProject(sql`mine`, sql`p.id`, sql`n.traversal_ids`)}, 0)`
const feature = sql`coalesce(p.settings->>'merge_requests_access_level',
  case when p.settings->>'merge_requests_enabled' = 'false' then 'disabled' else 'enabled' end)`

/**
 * Whether a caller sees the merge requests of a project `p` at `n`: those who may read its code, where they are switched
 * on. As part of a statement with the caller's rows as `mine`; `open` are the visibilities that need no membership.
 */
export const seesMergeRequestsOf = (open: RawBuilder<unknown>): RawBuilder<boolean> => sql`(
  case ${feature} when 'enabled' then true when 'private' then ${level} >= ${sql.lit(ROLES.guest)} else false end
  and (p.visibility <> 'private' and p.repository_access_level = 'enabled'
          and (p.visibility = any(${open}) or ${level} >= ${sql.lit(ROLES.guest)})
       or ${level} >= ${sql.lit(ROLES.reporter)}))`
