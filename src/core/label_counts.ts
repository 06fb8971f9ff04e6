import { sql } from 'kysely'
import { statement, type Sql } from '../db/statement.ts'
import type { Job } from '../jobs/job.ts'
import { ROLES } from './roles.ts'

// How many issues and merge requests bear a label `l`, as far as a caller sees them, as parts of statements. What is kept by
// the database is not looked at one by one; what is confidential and the caller's own is.

/** What is confidential and the caller's own, by label and project, as `own`. For a `with`. */
export const ownLabelled = (viewer: Sql): Sql => sql`
  own as materialized (
    select k.label_id, k.noteable_project_id as project_id,
           count(*) filter (where k.noteable_state = 'opened') as opened,
           count(*) filter (where k.noteable_state = 'closed') as closed
      from (select i.id from issues i where i.author_id = ${viewer} and i.confidential
            union
            select a.issue_id from issue_assignees a where a.user_id = ${viewer} and a.issue_confidential) o
      join label_links k on k.noteable_id = o.id
     group by k.label_id, k.noteable_project_id)`

interface Counted {
  /** In which projects, as a condition on their counts `c`; or joins to them. */
  readonly where?: Sql
  readonly joined?: Sql
  /** What the caller sees of a project, and the caller's role there. */
  readonly issues: Sql
  readonly requests: Sql
  readonly role: Sql
}

/** One row of counts for a label `l`, beside `own`. */
export function labelCounts({ where = sql`true`, joined = sql``, issues, requests, role }: Counted): Sql {
  const hidden = (state: 'opened' | 'closed'): Sql => sql`
    case when ${role} >= ${sql.lit(ROLES.planner)} then c.${sql.ref(`hidden_${state}`)}
         else coalesce((select o.${sql.ref(state)} from own o where o.label_id = l.id and o.project_id = c.project_id), 0) end`
  const count = (state: 'opened' | 'closed'): Sql =>
    sql`coalesce(sum(c.${sql.ref(state)} + ${hidden(state)}) filter (where ${issues}), 0)::int`
  return sql`lateral (
    select ${count('opened')} as open_issues_count, ${count('closed')} as closed_issues_count,
           coalesce(sum(c.opened_requests) filter (where ${requests}), 0)::int as open_merge_requests_count
      from (select c.project_id, sum(c.opened) as opened, sum(c.closed) as closed, sum(c.hidden_opened) as hidden_opened,
                   sum(c.hidden_closed) as hidden_closed, sum(c.opened_requests) as opened_requests
              from label_counts c where c.label_id = l.id and ${where} group by c.project_id) c ${joined}) counts`
}

const fold = statement(() => sql`select fold_label_counts()`)
/** Makes one row of what was added for each label and project. */
export const foldLabelCounts: Job<Record<string, never>> = {
  name: 'fold_label_counts',
  hourly: true,
  run: async ({ db }) => {
    await db.rows(fold, {})
  },
}
