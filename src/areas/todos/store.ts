import { sql, type RawBuilder } from 'kysely'
import { seesMergeRequestsOf } from '../../core/sight/merge_requests.ts'
import { seesEpic, seesIssue } from '../../core/sight/noteables.ts'
import { ROLES, openTo, roleInNamespace, type Viewer } from '../../core/sight/roles.ts'
import { mine, role, seesIssuesOf } from '../../core/sight/callers.ts'
import type { Db } from '../../db/db.ts'
import type { Visibility } from '../../db/schema/columns.ts'
import { paged, pageStatements, type Listed } from '../../db/pages.ts'
import { statement, type Slots } from '../../db/statement.ts'
import { shownIssues, type IssueShown } from '../../records/planning/issue.ts'
import { shownMergeRequests, type MergeRequestShown } from '../../records/merge_requests/merge_request.ts'
import { authorJson } from '../../records/people/user.ts'
import type { TodoShown } from './entity.ts'

const FILTERS = ['action', 'author', 'project', 'group', 'type', 'id'] as const
type FilterName = (typeof FILTERS)[number]

interface Values {
  readonly user_id: number
  readonly open_to: readonly Visibility[]
  readonly state: string
  readonly action: string
  readonly author: number
  readonly project: number
  readonly group: number
  readonly type: string
  readonly id: number
  readonly limit: number
  readonly offset: number
}
interface Shape {
  readonly filters: readonly FilterName[]
  readonly everything: boolean
}
type P = { readonly [Name in keyof Values]: RawBuilder<Values[Name]> }

const CONDITIONS: Readonly<Record<FilterName, (p: P) => RawBuilder<unknown>>> = {
  action: (p) => sql`t.action_name = ${p.action}`,
  author: (p) => sql`t.author_id = ${p.author}`,
  project: (p) => sql`t.project_id = ${p.project}`,
  group: (p) => sql`(t.group_id = ${p.group} or p.line @> array[${p.group}::bigint])`,
  type: (p) => sql`k.kind = ${p.type}`,
  id: (p) => sql`t.id = ${p.id}`,
}

/**
 * Where a reminder's record is, with what its user sees there: told once for each project and each group, however many
 * reminders come from it.
 */
function places(p: P, everything: boolean): RawBuilder<unknown> {
  const groupRole = sql`coalesce(${roleInNamespace(sql`mine`, sql`n.traversal_ids`)}, 0)`
  const inProject = sql`${role} as role, ${seesIssuesOf(p, false)} as shows_issues,
    ${seesMergeRequestsOf(p.open_to)} as shows_merge_requests`
  const inGroup = sql`n.visibility = any(${p.open_to}) or ${groupRole} >= ${sql.lit(ROLES.guest)}`
  return sql`
    left join lateral (
      select p.id, p.name, p.path, p.full_path, n.full_name as home, n.traversal_ids as line
             ${everything ? sql`` : sql`, ${inProject}`}
        from projects p join namespaces n on n.id = p.namespace_id where p.id = t.project_id offset 0) p on true
    left join lateral (
      select n.* ${everything ? sql`` : sql`, ${groupRole} as role, ${inGroup} as is_shown`}
        from namespaces n where n.id = e.group_id offset 0) eg on true`
}

/** Items of hidden records and notes are left out. */
function seen(p: P, everything: boolean): RawBuilder<unknown> {
  if (everything) return sql`true`
  return sql`case
    when i.id is not null then p.shows_issues and ${seesIssue(p.user_id, sql`p.role`)}
    when m.id is not null then p.shows_merge_requests
    when e.id is not null then ${seesEpic(p.user_id, sql`eg.role`)} and eg.is_shown
    else false end
    and (case when e.id is null then p.role else eg.role end >= ${sql.lit(ROLES.reporter)}
         or not coalesce((select w.internal from notes w where w.id = t.note_id), false))`
}

const matching = (p: P, { filters, everything }: Shape): RawBuilder<unknown> => sql`
    from todos t join noteables k on k.id = t.noteable_id
    left join issues i on i.id = t.noteable_id
    left join merge_requests m on m.id = t.noteable_id
    left join epics e on e.id = t.noteable_id
    ${places(p, everything)}
   where t.user_id = ${p.user_id}
     and ${filters.includes('id') ? sql`true` : sql`t.state = ${p.state}`}
     and ${sql.join([sql`true`, ...filters.map((name) => CONDITIONS[name](p))], sql` and `)}
     and ${seen(p, everything)}`

const list = pageStatements<Shape, Values, TodoShown>((p, shape) => {
  const page = sql<TodoShown>`
    with ${mine(p)}
    select t.*, k.kind, coalesce(i.title, m.title, e.title) as title, coalesce(i.iid, m.iid, e.iid) as iid,
           (select body from notes where notes.id = t.note_id) as note,
           ${authorJson(sql`t.author_id`)} as author,
           case when p.id is not null then json_build_object(
             'id', p.id, 'name', p.name, 'path', p.path, 'full_path', p.full_path, 'home', p.home) end as project,
           case when eg.id is not null then json_build_object(
             'id', eg.id, 'name', eg.name, 'path', eg.path, 'kind', eg.kind, 'full_path', eg.full_path,
             'parent_id', eg.parent_id, 'avatar_url', eg.avatar_url) end as "group"
    ${matching(p, shape)}
   order by t.id desc limit ${p.limit} offset ${p.offset}`
  return paged(page, sql`with ${mine(p)} select ${matching(p, shape)}`)
})

/** Filters of a to-do list. */
type TodoFilter = Partial<Pick<Values, FilterName | 'state'>>
interface Page {
  readonly limit: number
  readonly offset: number
}

/** A page of somebody's reminders, newest first, of what they see. */
export async function listTodos(
  db: Db,
  viewer: Viewer,
  filter: TodoFilter,
  page: Page,
): Promise<Listed<TodoShown>> {
  const filters = FILTERS.filter((name) => filter[name] !== undefined)
  const none = { state: 'pending', action: '', author: 0, project: 0, group: 0, type: '', id: 0 }
  return db.page(list({ filters, everything: viewer.admin }), {
    ...none,
    ...filter,
    ...page,
    user_id: viewer.id,
    open_to: openTo(viewer),
  })
}

interface Chosen {
  readonly ids: readonly number[]
}
const issues = statement(
  (p: Slots<Chosen & { user_id: number }>) =>
    sql<IssueShown>`${shownIssues(sql`select unnest(${p.ids}::bigint[]) as id`, p.user_id)}`,
)
const mergeRequests = statement(
  (p: Slots<Chosen>) =>
    sql<MergeRequestShown>`${shownMergeRequests(sql`select unnest(${p.ids}::bigint[]) as id`)}`,
)
export const issuesOf = (db: Db, viewer: Viewer, ids: readonly number[]): Promise<IssueShown[]> =>
  db.rows(issues, { ids, user_id: viewer.id })
export const mergeRequestsOf = (db: Db, ids: readonly number[]): Promise<MergeRequestShown[]> =>
  db.rows(mergeRequests, { ids })

const finish = statement(
  (p: Slots<{ user_id: number; id: number | null }>) => sql`
    update todos set state = 'done', updated_at = now()
     where user_id = ${p.user_id} and state = 'pending' and (${p.id}::bigint is null or id = ${p.id})`,
)
/** One reminder, or all of somebody's. */
export const finishFor = (db: Db, userId: number, id: number | null): Promise<number> =>
  db.run(finish, { user_id: userId, id })
