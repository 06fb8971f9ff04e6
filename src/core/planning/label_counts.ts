import { sql } from 'kysely'
import type { Sql } from '../../db/statement.ts'
import { ROLES } from '../sight/roles.ts'

// How many issues and merge requests bear a label `l`, as far as a caller sees them, as part of a statement.

interface Counted {
  readonly viewer: Sql
  /** One project; without it all that have such records, as `c.project_id` for `joined`. */
  readonly project?: Sql
  readonly joined?: Sql
  /** Whether the caller sees the issues of a project, its merge requests, and the caller's role there. */
  readonly issues: Sql
  readonly requests: Sql
  readonly role: Sql
}

/** One row of counts for a label `l`; of confidential issues a caller below planner sees their own alone. */
export function labelCounts({ viewer, project, joined = sql``, issues, requests, role }: Counted): Sql {
  const here = project === undefined ? sql`` : sql`and r.project_id = ${project}`
  const own = sql`(r.author_id = ${viewer}
    or exists (select from issue_assignees a where a.issue_id = r.id and a.user_id = ${viewer}))`
  const count = (state: 'opened' | 'closed'): Sql => sql`
    coalesce(sum(c.issues) filter (where c.state = ${sql.lit(state)} and ${issues}
                                     and (c.shown or ${role} >= ${sql.lit(ROLES.planner)})), 0)::int`
  return sql`lateral (
    select ${count('opened')} as open_issues_count, ${count('closed')} as closed_issues_count,
           coalesce(sum(c.requests) filter (where c.state = 'opened' and ${requests}), 0)::int as open_merge_requests_count
      from (select r.project_id, r.state, not r.confidential or ${own} as shown, count(*) as issues, 0 as requests
              from label_links k join issues r on r.id = k.noteable_id
             where k.label_id = l.id ${here} group by r.project_id, r.state, shown
            union all
            select r.project_id, r.state, true, 0, count(*)
              from label_links k join merge_requests r on r.id = k.noteable_id
             where k.label_id = l.id ${here} group by r.project_id, r.state) c ${joined}) counts`
}
