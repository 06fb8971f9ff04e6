import { sql } from 'kysely'
import { noteAuthors } from '../../core/conversation/note_authors.ts'
import type { Project } from '../../core/places/projects.ts'
import { heldBy, roleInProject } from '../../core/sight/roles.ts'
import type { Db } from '../../db/db.ts'
import { existing } from '../../db/rows.ts'
import type { Issue } from '../../db/schema/planning.ts'
import { COUNTED, paged, pageStatement, type Listed } from '../../db/pages.ts'
import { q, statement, type Slots } from '../../db/statement.ts'
import { shownIssues, type IssueShown } from '../../records/planning/issue.ts'
import type { Author } from '../../records/people/user.ts'

const shown = statement(
  (p: Slots<{ id: number; user_id: number | null }>) =>
    sql<IssueShown>`${shownIssues(sql`select ${p.id}::bigint as id`, p.user_id, { single: true })}`,
)

/** All that one answer shows of an issue. */
export async function show(db: Db, id: number, userId: number | null): Promise<IssueShown> {
  return existing(await db.one(shown, { id, user_id: userId }))
}

const byId = statement((p: Slots<{ id: number }>) =>
  q.selectFrom('issues').selectAll().where('id', '=', p.id),
)
/** For any caller. */
export const find = (db: Db, id: number): Promise<Issue | undefined> => db.one(byId, { id })

const assigned = statement((p: Slots<{ id: number; user_id: number }>) =>
  q
    .selectFrom('issue_assignees')
    .select('user_id')
    .where('issue_id', '=', p.id)
    .where('user_id', '=', p.user_id),
)
export const isAssigned = async (db: Db, id: number, userId: number): Promise<boolean> =>
  (await db.one(assigned, { id, user_id: userId })) !== undefined

const removeOne = statement((p: Slots<{ project_id: number; id: number }>) =>
  q.deleteFrom('issues').where('project_id', '=', p.project_id).where('id', '=', p.id),
)
export const remove = (db: Db, projectId: number, id: number): Promise<number> =>
  db.run(removeOne, { project_id: projectId, id })

const subscription = statement(
  (p: Slots<{ id: number; user_id: number; subscribed: boolean }>) => sql`
    insert into noteable_subscriptions (noteable_id, user_id, subscribed)
    values (${p.id}, ${p.user_id}, ${p.subscribed})
    on conflict (noteable_id, user_id) do update set subscribed = excluded.subscribed`,
)
export const setSubscribed = (db: Db, id: number, userId: number, subscribed: boolean): Promise<number> =>
  db.run(subscription, { id, user_id: userId, subscribed })

const participants = pageStatement(
  (p: Slots<{ id: number; internal: boolean; limit: number; offset: number }>) => {
    const most = sql`greatest(${sql.lit(COUNTED + 1)}, ${p.limit}::bigint + ${p.offset}::bigint)`
    return paged(
      sql<Author>`select u.id, u.username, u.name, u.state, u.avatar_url from users u where u.id in (select user_id from takers)
           order by u.id limit ${p.limit} offset ${p.offset}`,
      sql`select from takers where user_id is not null`,
      sql`takers as materialized (
        select i.author_id as user_id from issues i where i.id = ${p.id}
        union
        select a.user_id from issue_assignees a where a.issue_id = ${p.id}
        union
        ${noteAuthors(p.id, sql`${p.internal}::boolean`, most)})`,
    )
  },
)
interface Page {
  readonly limit: number
  readonly offset: number
}
/** Participants of an issue; `internal` counts those who wrote internal notes only. */
export const listParticipants = (
  db: Db,
  id: number,
  internal: boolean,
  page: Page,
): Promise<Listed<Author>> => db.page(participants, { id, internal, ...page })

const lockProjects = statement(
  (p: Slots<{ ids: readonly number[] }>) =>
    sql`select id from projects where id = any(${p.ids}::bigint[]) order by id for update`,
)
/** Two that move issues between the same projects wait for each other, whichever way they go. */
export const lockBoth = (db: Db, ids: readonly number[]): Promise<number> => db.run(lockProjects, { ids })

const follow = statement(
  (p: Slots<{ from: number; to: number }>) =>
    sql`update issues set moved_to_id = ${p.to} where id = ${p.from} and moved_to_id is null`,
)
const copyVotes = statement(
  (p: Slots<{ from: number; to: number }>) => sql`
    insert into award_emoji (name, user_id, noteable_id, created_at, updated_at)
    select name, user_id, ${p.to}, created_at, updated_at from award_emoji where noteable_id = ${p.from} order by id`,
)
const copyNotes = statement(
  (p: Slots<{ from: number; to: number; internal: boolean }>) => sql`
    with threads as (
      select d.*, substr(encode(sha256(convert_to(d.key || ${p.to}::text, 'utf8')), 'hex'), 1, 40) as copied_as
        from discussions d where d.noteable_id = ${p.from} and (${p.internal}::boolean or not d.internal)
         and not exists (select from notes n
                          where n.discussion_id = d.id and n.system_action in ('milestone', 'iteration'))
    ), copies as (
      insert into discussions (key, noteable_id, individual_note, internal, mentions_project_id, mentions_code,
                               mentions_noteable_id, created_at)
      select copied_as, ${p.to}, individual_note, internal, mentions_project_id, mentions_code,
             mentions_noteable_id, created_at
        from threads order by id
      returning id, key
    ), counted as (
      update issues set user_notes_count = (select user_notes_count from issues where id = ${p.from}) where id = ${p.to}
    )
    insert into notes (discussion_id, noteable_id, author_id, type, body, internal, system_action, mentions_project_id,
                       mentions_code, mentions_noteable_id, created_at, updated_at)
    select c.id, ${p.to}, n.author_id, n.type, n.body, n.internal, n.system_action, n.mentions_project_id,
           n.mentions_code, n.mentions_noteable_id, n.created_at, n.updated_at
      from threads t join copies c on c.key = t.copied_as join notes n on n.discussion_id = t.id
     order by n.id`,
)
/**
 * Tells where an issue went, and takes along what people said of it, `internal` notes only for whoever reads them; false
 * where it has gone before. Notes that name milestones and iterations stay: those may be hidden where it goes.
 */
export async function markMoved(
  db: Db,
  { from, to, internal }: { readonly from: number; readonly to: number; readonly internal: boolean },
): Promise<boolean> {
  if ((await db.run(follow, { from, to })) === 0) return false
  await db.run(copyNotes, { from, to, internal })
  await db.run(copyVotes, { from, to })
  return true
}

interface Going {
  readonly from: number
  readonly to: number
  /** Where it goes, with the groups above that. */
  readonly project_id: number
  readonly line: readonly number[]
}
// Read as it was before: the same statement takes the old one out of its epic.
const carryAlong = statement(
  (p: Slots<Going>) => sql`
    with old as (select * from issues where id = ${p.from}),
    epic as (
      select e.id from old join epics e on e.id = old.epic_id where e.group_id = any(${p.line}::bigint[])
    ), gone as (
      update issues set epic_id = null where id = ${p.from} and exists (select from epic)
    )
    update issues
       set time_estimate = old.time_estimate, total_time_spent = old.total_time_spent, severity = old.severity,
           epic_id = (select id from epic)
      from old where issues.id = ${p.to}`,
)
/**
 * Gives a moved issue the time of the old one, and its place in an epic of a group that is above the new project too.
 * Whether the mover sees that epic does not matter: it holds one issue in place of another.
 */
export const carryOn = (db: Db, going: Going): Promise<number> => db.run(carryAlong, going)

interface Timeboxes {
  readonly milestone_id: number | null
  readonly iteration_id: number | null
}
const timeboxes = statement(
  (p: Slots<Omit<Going, 'to'>>) => sql<Timeboxes>`
    select (select m.id from milestones was
              join milestones m on m.title = was.title
                               and (m.project_id = ${p.project_id} or m.group_id = any(${p.line}::bigint[]))
             where was.id = i.milestone_id
             order by m.id <> was.id, m.project_id is null, array_position(${p.line}::bigint[], m.group_id) desc
             limit 1) as milestone_id,
           (select t.id from iterations t
             where t.id = i.iteration_id and t.group_id = any(${p.line}::bigint[])) as iteration_id
      from issues i where i.id = ${p.from}`,
)
/** The milestone of the target, the same one or the nearest of that title, and the iteration where it exists there. */
export const timeboxesThere = async (db: Db, going: Omit<Going, 'to'>): Promise<Timeboxes> =>
  (await db.one(timeboxes, going)) ?? { milestone_id: null, iteration_id: null }

const target = statement(
  (p: Slots<{ id: number; user_id: number }>) => sql<Project>`
    select p.*, n.traversal_ids,
           coalesce(${roleInProject(heldBy(p.user_id), sql`p.id`, sql`n.traversal_ids`)}, 0) as role
      from projects p join namespaces n on n.id = p.namespace_id where p.id = ${p.id}`,
)
/** A project with what the user holds on it, whether it shows or not. */
export const findProject = (db: Db, id: number, userId: number): Promise<Project | undefined> =>
  db.one(target, { id, user_id: userId })

const titles = statement(
  (p: Slots<{ id: number }>) => sql<{ title: string }>`
    select l.title from label_links k join labels l on l.id = k.label_id where k.noteable_id = ${p.id} order by l.title`,
)
export const labelTitles = async (db: Db, id: number): Promise<string[]> =>
  (await db.rows(titles, { id })).map(({ title }) => title)
