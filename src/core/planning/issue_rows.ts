import { sql } from 'kysely'
import type { Db } from '../../db/db.ts'
import type { Epic, Issue } from '../../db/schema/planning.ts'
import { q, statement, type Slots } from '../../db/statement.ts'
import { seesEpicAt } from '../sight/noteables.ts'
import { heldBy, roleInNamespace } from '../sight/roles.ts'

// The rows of an issue, as its changes read and write them.

export interface IssueColumns {
  readonly title: string
  readonly description: string | null
  readonly state: 'opened' | 'closed'
  readonly issue_type: Issue['issue_type']
  readonly confidential: boolean
  readonly milestone_id: number | null
  readonly epic_id: number | null
  readonly iteration_id: number | null
  readonly weight: number | null
  readonly due_date: string | null
  readonly discussion_locked: boolean
  readonly closed_at: string | null
  readonly closed_by_id: number | null
}

const dayOf = (moment: Date | null): string | null => moment?.toISOString() ?? null

/** The columns as they are. */
export const issueColumns = (row: Issue): IssueColumns => ({
  title: row.title,
  description: row.description,
  state: row.state,
  issue_type: row.issue_type,
  confidential: row.confidential,
  milestone_id: row.milestone_id,
  epic_id: row.epic_id,
  iteration_id: row.iteration_id,
  weight: row.weight,
  due_date: row.due_date,
  discussion_locked: row.discussion_locked,
  closed_at: dayOf(row.closed_at),
  closed_by_id: row.closed_by_id,
})

const lockOne = statement((p: Slots<{ id: number }>) =>
  q.selectFrom('issues').selectAll().where('id', '=', p.id).forUpdate(),
)
/** The issue as it is now; others who would change it wait. */
export const lockIssue = (db: Db, id: number): Promise<Issue | undefined> => db.one(lockOne, { id })

const update = statement(
  (p: Slots<IssueColumns & { id: number; updated_at: string | null }>) => sql`
    update issues
       set title = ${p.title}, description = ${p.description}, state = ${p.state}, issue_type = ${p.issue_type},
           confidential = ${p.confidential}, milestone_id = ${p.milestone_id}, epic_id = ${p.epic_id},
           iteration_id = ${p.iteration_id},
           weight = ${p.weight}, due_date = ${p.due_date}, discussion_locked = ${p.discussion_locked},
           closed_at = ${p.closed_at}, closed_by_id = ${p.closed_by_id},
           updated_at = coalesce(${p.updated_at}::timestamptz, now())
     where id = ${p.id}`,
)
export const writeIssue = (
  db: Db,
  id: number,
  columns: IssueColumns,
  updatedAt: string | null = null,
): Promise<number> => db.run(update, { ...columns, id, updated_at: updatedAt })

interface NewIssue {
  readonly project_id: number
  readonly iid: number
  readonly author_id: number
  readonly title: string
  readonly description: string | null
  readonly issue_type: Issue['issue_type']
  readonly confidential: boolean
  readonly created_at: string | null
}
const insert = statement(
  (p: Slots<NewIssue>) => sql<Issue>`
    insert into issues (iid, project_id, author_id, title, description, issue_type, confidential, created_at, updated_at)
    values (${p.iid}, ${p.project_id}, ${p.author_id}, ${p.title}, ${p.description}, ${p.issue_type}, ${p.confidential},
            coalesce(${p.created_at}::timestamptz, now()), coalesce(${p.created_at}::timestamptz, now()))
    returning *`,
)

/** Violates `issues_project_id_iid_key` when the number is taken. */
export async function insertIssue(db: Db, issue: NewIssue): Promise<Issue> {
  return db.insert(insert, issue)
}

const reserve = statement(
  (p: Slots<{ project_id: number; iid: number }>) => sql`
    insert into project_counters (project_id, counts, last) values (${p.project_id}, 'issues', ${p.iid})
    on conflict (project_id, counts) do update set last = greatest(project_counters.last, excluded.last)`,
)
/** Counting goes on behind a number that somebody chose. */
export const reserveIid = (db: Db, projectId: number, iid: number): Promise<number> =>
  db.run(reserve, { project_id: projectId, iid })

const assignees = statement((p: Slots<{ id: number }>) =>
  q.selectFrom('issue_assignees').select('user_id').where('issue_id', '=', p.id).orderBy('user_id'),
)
export const assigneesOf = async (db: Db, id: number): Promise<number[]> =>
  (await db.rows(assignees, { id })).map((row) => row.user_id)

const assign = statement(
  (p: Slots<{ id: number; user_ids: readonly number[] }>) => sql<{
    username: string
    added: boolean
    id: number
  }>`
    with gone as (
      delete from issue_assignees
       where issue_id = ${p.id} and user_id <> all(${p.user_ids}::bigint[])
      returning user_id
    ), fresh as (
      insert into issue_assignees (issue_id, user_id) select ${p.id}, unnest(${p.user_ids}::bigint[])
          on conflict do nothing
      returning user_id
    )
    select u.username, u.id, c.added
      from (select user_id, true as added from fresh union all select user_id, false from gone) c
      join users u on u.id = c.user_id
     order by u.id`,
)
export interface Reassigned {
  readonly id: number
  readonly username: string
  /** False for whom it was taken from. */
  readonly added: boolean
}
/** Gives the issue to exactly these users; answers what changed. */
export const assignIssue = (db: Db, id: number, userIds: readonly number[]): Promise<Reassigned[]> =>
  db.rows(assign, { id, user_ids: userIds })

interface EpicWanted {
  readonly ref: number
  readonly by_iid: boolean
  readonly line: readonly number[]
  readonly admin: boolean
  readonly user_id: number
}
const epic = statement(
  (p: Slots<EpicWanted>) => sql<Pick<Epic, 'id' | 'title'>>`
    with mine as materialized (select * from ${heldBy(p.user_id)} g)
    select e.id, e.title
      from epics e join namespaces n on n.id = e.group_id,
           lateral (select coalesce(${roleInNamespace(sql`mine`, sql`n.traversal_ids`)}, 0) as role) held
     where e.group_id = any(${p.line}::bigint[])
       and case when ${p.by_iid}::boolean then e.iid = ${p.ref}::bigint else e.id = ${p.ref}::bigint end
       and (${p.admin}::boolean or ${seesEpicAt(p.user_id, sql`held.role`)})
     order by array_position(${p.line}::bigint[], e.group_id) desc
     limit 1`,
)
/**
 * An epic of a group above the project that the user sees, by its id or by its number in the nearest group. What counts
 * is what the user holds on the group of the epic: a role on the project shows nothing of what the group hides.
 */
export const findEpicAbove = (
  db: Db,
  line: readonly number[],
  who: { readonly user_id: number; readonly admin: boolean },
  ref: { readonly by: 'id' | 'iid'; readonly value: number },
): Promise<Pick<Epic, 'id' | 'title'> | undefined> =>
  db.one(epic, { ...who, line, ref: ref.value, by_iid: ref.by === 'iid' })
