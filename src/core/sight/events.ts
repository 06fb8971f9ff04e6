import { sql, type RawBuilder } from 'kysely'
import { role, seesInside, seesIssuesOf, seesProject, type CallerSlots } from './callers.ts'
import { isSwitchedOn, showsCodeOf } from './features.ts'
import { seesMergeRequestsOf } from './merge_requests.ts'
import { seesEpicAt, seesIssue, seesSnippet } from './noteables.ts'
import { ROLES, roleInNamespace } from './roles.ts'

// Which events `ev` of the outbox a caller sees at this moment, as parts of statements with the caller's rows as `mine`.

/** An event's project `p` and its namespace `n`, which is the group of an event without a project. */
export const placeOfEvent: RawBuilder<unknown> = sql`
  left join projects p on p.id = ev.project_id
  left join lateral (select n.* from namespaces n where n.id = coalesce(p.namespace_id, ev.group_id) offset 0) n on true`

const BUILDS = sql`coalesce(p.settings->>'builds_access_level',
  case when p.settings->>'jobs_enabled' = 'false' then 'disabled' else 'enabled' end)`

/** As `mayReadPipelines` of the gates. */
const seesPipelines = (everything: boolean): RawBuilder<unknown> =>
  everything
    ? sql`true`
    : sql`(${BUILDS} <> 'disabled' and (${BUILDS} = 'enabled' or ${role} >= ${sql.lit(ROLES.guest)})
           and (${role} >= ${sql.lit(ROLES.reporter)}
                or p.visibility <> 'private' and coalesce(p.settings->>'public_jobs', 'true') <> 'false'))`

/** The record that the event is about exists and is seen. */
function seesTarget(p: CallerSlots, everything: boolean): RawBuilder<unknown> {
  const all = sql`true`
  const requests = everything ? isSwitchedOn('merge_requests') : seesMergeRequestsOf(p.open_to)
  return sql`case ev.noteable_kind
    when 'issue' then ${seesIssuesOf(p, everything)} and exists (
      select from issues i where i.id = ev.noteable_id and ${everything ? all : seesIssue(p.user_id, role)})
    when 'merge_request' then ${requests}
      and exists (select from merge_requests m where m.id = ev.noteable_id)
    when 'snippet' then exists (
      select from snippets s
       where s.id = ev.noteable_id and ${everything ? all : seesSnippet(p.user_id, role, p.open_to)})
    when 'commit' then ${showsCodeOf('p', role, everything)}
    else case when ev.kind in ('push', 'tag_push', 'repository_update') then ${showsCodeOf('p', role, everything)}
              when ev.kind in ('pipeline', 'job', 'deployment') then ${seesPipelines(everything)}
              else true end end`
}

/** Whether the caller sees an event of a project. */
const seesInProject = (p: CallerSlots, everything: boolean): RawBuilder<unknown> => sql`
  (p.id is not null and ${seesProject(p, everything)} and ${seesTarget(p, everything)}
   and (not ev.internal or ${everything ? sql`true` : sql`${role} >= ${sql.lit(ROLES.reporter)}`})
   and (ev.target_type is distinct from 'note' or exists (select from notes w where w.id = ev.target_id)))`

/** The same of a group, and of records that are in no project. */
function seesInGroup(p: CallerSlots, everything: boolean): RawBuilder<unknown> {
  if (everything) return sql`true`
  const held = sql`coalesce(${roleInNamespace(sql`mine`, sql`n.traversal_ids`)}, 0)`
  return sql`(n.id is not null and case
    when ev.noteable_kind = 'epic' then (not ev.internal or ${held} >= ${sql.lit(ROLES.reporter)}) and exists (
      select from epics e where e.id = ev.noteable_id and ${seesEpicAt(p.user_id, held)})
    else ${seesInside(p, false)} end)`
}

/** Whether the caller sees the event. */
export const seesEvent = (p: CallerSlots, everything: boolean): RawBuilder<boolean> =>
  sql`case when ev.project_id is not null then ${seesInProject(p, everything)} else ${seesInGroup(p, everything)} end`
