import { sql, type RawBuilder } from 'kysely'
import type { Db } from '../../db/db.ts'
import type { Epic, Issue, MergeRequest, Snippet } from '../../db/schema/planning.ts'
import { statement, type Slots } from '../../db/statement.ts'
import { ROLES, seldomHeldBy, openTo, roleInNamespace, type Viewer } from './roles.ts'

// Visibility of issues, snippets and epics inside a parent that the viewer sees; of merge requests in `merge_requests.ts`.

/** As part of a statement that names an issue `i`; `role` is what the viewer holds on the issue's project. */
export const seesIssue = (
  viewer: RawBuilder<number | null>,
  role: RawBuilder<unknown>,
): RawBuilder<boolean> =>
  sql`(not i.confidential or ${role} >= ${sql.lit(ROLES.planner)} or i.author_id = ${viewer}
       or exists (select from issue_assignees a where a.issue_id = i.id and a.user_id = ${viewer}))`

/** The same for an epic `e`, with the role on its group. */
export const seesEpic = (viewer: RawBuilder<number | null>, role: RawBuilder<unknown>): RawBuilder<boolean> =>
  sql`(not e.confidential or ${role} >= ${sql.lit(ROLES.planner)} or e.author_id = ${viewer})`

/** The same from elsewhere, where nothing is known yet of the group `n` of the epic. */
export const seesEpicAt = (
  viewer: RawBuilder<number | null>,
  role: RawBuilder<unknown>,
): RawBuilder<boolean> => sql`(
  (n.visibility = 'public' or ${role} >= ${sql.lit(ROLES.guest)}
   or n.visibility = 'internal' and exists (select from users u where u.id = ${viewer} and not u.external))
  and ${seesEpic(viewer, role)})`

/** Whether an issue is shown with its epic `e`: a confidential one is, to those who see that. */
export const showsEpic = (viewer: RawBuilder<number | null>): RawBuilder<boolean> => sql`(
  not e.confidential or exists (
    select from namespaces n,
           lateral (select coalesce(${roleInNamespace(seldomHeldBy(viewer), sql`n.traversal_ids`)}, 0) as role offset 0) held
     where n.id = e.group_id
       and (exists (select from users u where u.id = ${viewer} and u.admin)
            or ${seesEpicAt(viewer, sql`held.role`)})))`

/** The same for a snippet `s`; `open` are the visibilities that need no membership. */
export const seesSnippet = (
  viewer: RawBuilder<number | null>,
  role: RawBuilder<unknown>,
  open: RawBuilder<unknown>,
): RawBuilder<boolean> =>
  sql`(s.visibility = any(${open}) or ${role} >= ${sql.lit(ROLES.guest)} or s.author_id = ${viewer})`

interface Seen {
  readonly viewer: number | null
  readonly role: number
}
/** Administrators see all, whatever their role. */
const seen = (viewer: Viewer | null, role: number): Seen => ({
  viewer: viewer?.id ?? null,
  role: viewer?.admin === true ? ROLES.owner : role,
})

// Iids in parameters may be as long as the parameter; those beyond the largest iid match nothing.
const issueByIid = statement(
  (p: Slots<Seen & { project_id: number; iid: number }>) => sql<Issue>`
    select i.* from issues i
     where i.project_id = ${p.project_id} and i.iid = ${p.iid}::bigint and ${seesIssue(p.viewer, sql`${p.role}::int`)}`,
)
const mergeRequestByIid = statement(
  (p: Slots<{ project_id: number; iid: number }>) => sql<MergeRequest>`
    select * from merge_requests where project_id = ${p.project_id} and iid = ${p.iid}::bigint`,
)
const snippetById = statement(
  (p: Slots<Seen & { project_id: number; id: number; open: readonly string[] }>) => sql<Snippet>`
    select s.* from snippets s
     where s.project_id = ${p.project_id} and s.id = ${p.id}
       and ${seesSnippet(p.viewer, sql`${p.role}::int`, p.open)}`,
)
const epicBy = {
  id: statement(
    (p: Slots<Seen & { group_id: number; id: number }>) => sql<Epic>`
      select e.* from epics e
       where e.group_id = ${p.group_id} and e.id = ${p.id} and ${seesEpic(p.viewer, sql`${p.role}::int`)}`,
  ),
  iid: statement(
    (p: Slots<Seen & { group_id: number; id: number }>) => sql<Epic>`
      select e.* from epics e
       where e.group_id = ${p.group_id} and e.iid = ${p.id}::bigint and ${seesEpic(p.viewer, sql`${p.role}::int`)}`,
  ),
}

interface Parent {
  readonly id: number
  /** The viewer's role on it. */
  readonly role: number
}

/** An issue of the project that the viewer sees. */
export const findIssue = (
  db: Db,
  viewer: Viewer | null,
  project: Parent,
  iid: number,
): Promise<Issue | undefined> =>
  db.one(issueByIid, { ...seen(viewer, project.role), project_id: project.id, iid })

/** A merge request of the project; whoever may read the code sees every one. */
export const findMergeRequest = (
  db: Db,
  project: Pick<Parent, 'id'>,
  iid: number,
): Promise<MergeRequest | undefined> => db.one(mergeRequestByIid, { project_id: project.id, iid })

/** A snippet of the project that the viewer sees. */
export const findSnippet = (
  db: Db,
  viewer: Viewer | null,
  project: Parent,
  id: number,
): Promise<Snippet | undefined> =>
  db.one(snippetById, { ...seen(viewer, project.role), project_id: project.id, id, open: openTo(viewer) })

/** An epic of the group that the viewer sees, by its `id` or its `iid`. */
export const findEpic = (
  db: Db,
  viewer: Viewer | null,
  group: Parent,
  ref: { readonly by: 'id' | 'iid'; readonly value: number },
): Promise<Epic | undefined> =>
  db.one(epicBy[ref.by], { ...seen(viewer, group.role), group_id: group.id, id: ref.value })
