import { sql, type RawBuilder } from 'kysely'
import { isOpenTo } from './features.ts'
import { ROLES, roleInProject } from './roles.ts'

const level = sql`coalesce(${roleInProject(sql`mine`, sql`p.id`, sql`n.traversal_ids`)}, 0)`

/**
 * Whether a caller sees the merge requests of a project `p` at `n`: those who may read its code, where they are switched
 * on. As part of a statement with the caller's rows as `mine`; `open` are the visibilities that need no membership.
 */
export const seesMergeRequestsOf = (open: RawBuilder<unknown>): RawBuilder<boolean> => sql`(
  ${isOpenTo('merge_requests', level)}
  and (p.visibility <> 'private' and p.repository_access_level = 'enabled'
          and (p.visibility = any(${open}) or ${level} >= ${sql.lit(ROLES.guest)})
       or ${level} >= ${sql.lit(ROLES.reporter)}))`
