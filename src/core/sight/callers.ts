import { sql, type RawBuilder } from 'kysely'
import { isOpenTo, isSwitchedOn } from './features.ts'
import { seesIssue } from './noteables.ts'
import { ROLES, belongsBelow, heldBy, homeOf, roleInNamespace, roleInProject, seldomHeldBy } from './roles.ts'
import type { Visibility } from '../../db/schema/columns.ts'

// Records that a caller may see, as parts of statements that name a project `p` and a namespace `n`.

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

const issuesOn = isSwitchedOn('issues')
const hasIssues = isOpenTo('issues', role)
/** Whether the project `p` has issues for the caller; for administrators, wherever they are switched on. */
export const seesIssuesOf = (p: CallerSlots, everything: boolean): RawBuilder<unknown> =>
  everything ? issuesOn : sql`${seesProject(p, false)} and ${hasIssues}`

/** An issue's id, where the viewer sees the issue; null for any other. For statements that read issues for other reasons. */
export const issueIfSeen = (
  id: RawBuilder<unknown>,
  viewer: RawBuilder<number | null>,
): RawBuilder<number | null> => {
  const visible = sql`(p.visibility = 'public' or v.id is not null and p.visibility = 'internal' and not v.external
                       or ${role} >= ${sql.lit(ROLES.guest)})`
  return sql`(
    with mine as (select * from ${seldomHeldBy(viewer)} g)
    select i.id
      from issues i join projects p on p.id = i.project_id, ${homeOf} n,
           (select) one left join users v on v.id = ${viewer}
     where i.id = ${id} and (v.admin and ${issuesOn}
            or ${visible} and ${hasIssues} and ${seesIssue(viewer, role)}))`
}

/** As the gate of a group has it: by visibility, by a role, or by belonging to something inside. */
export const seesGroup = (p: CallerSlots, everything: boolean): RawBuilder<unknown> =>
  everything
    ? sql`true`
    : sql`(n.visibility = any(${p.open_to})
           or coalesce(${roleInNamespace(sql`mine`, sql`n.traversal_ids`)} >= ${sql.lit(ROLES.minimal_access)},
                       ${belongsBelow(sql`mine`, sql`n.id`)}))`

/** Whether what is in the group `n` is seen: as `seesGroup`, but Minimal Access shows nothing of that. */
export const seesInside = (p: CallerSlots, everything: boolean): RawBuilder<unknown> => {
  const held = roleInNamespace(sql`mine`, sql`n.traversal_ids`)
  const minimal = sql.lit(ROLES.minimal_access)
  return everything
    ? sql`true`
    : sql`(n.visibility = any(${p.open_to})
           or ${held} >= ${sql.lit(ROLES.guest)}
           or coalesce(${held}, ${minimal}) = ${minimal} and ${belongsBelow(sql`mine`, sql`n.id`)})`
}

const roleInFork = roleInProject(sql`mine`, sql`f.id`, sql`fn.traversal_ids`)
/**
 * How many forks of the project `name` the caller sees. Those that need no membership are counted by index alone; roles are
 * computed for the others.
 */
export const visibleForks = (p: CallerSlots, name: 'p' | 'o', everything: boolean): RawBuilder<number> => {
  const forks = sql`from projects f where f.forked_from_project_id = ${sql.ref(`${name}.id`)}`
  if (everything) return sql`(select count(*)::int ${forks})`
  return sql`(
    (select count(*)::int ${forks} and f.visibility = any(${p.open_to}))
    + (select count(*)::int from (select f.id, f.namespace_id ${forks} and f.visibility <> all(${p.open_to})) f
         join namespaces fn on fn.id = f.namespace_id
        where ${roleInFork} >= ${sql.lit(ROLES.guest)}))`
}
