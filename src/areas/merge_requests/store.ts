import { sql } from 'kysely'
import { noteAuthors } from '../../core/conversation/note_authors.ts'
import type { Project } from '../../core/places/projects.ts'
import { heldBy, roleInProject } from '../../core/sight/roles.ts'
import type { Db } from '../../db/db.ts'
import { existing } from '../../db/rows.ts'
import { q, statement, statements, type Slots } from '../../db/statement.ts'
import { shownMergeRequests, type MergeRequestShown } from '../../records/merge_requests/merge_request.ts'
import { authorJson, type Author } from '../../records/people/user.ts'

const one = statements<{ anybody: boolean }, { id: number; user_id: number | null }, MergeRequestShown>(
  (p, { anybody }) => shownMergeRequests(sql`select ${p.id}::bigint as id`, anybody ? undefined : p.user_id),
)

/** A merge request with all that is shown of it, and whether the user hears of it. */
export async function showMergeRequest(
  db: Db,
  { id, user_id }: { readonly id: number; readonly user_id: number | null },
): Promise<MergeRequestShown> {
  return existing((await db.rows(one({ anybody: user_id === null }), { id, user_id }))[0])
}

const remove = statement((p: Slots<{ project_id: number; id: number }>) =>
  q.deleteFrom('merge_requests').where('project_id', '=', p.project_id).where('id', '=', p.id),
)
export const removeMergeRequest = (db: Db, projectId: number, id: number): Promise<number> =>
  db.run(remove, { project_id: projectId, id })

const author = statement(
  (p: Slots<{ id: number | null }>) => sql<{ name: string; email: string }>`
    select name, email from users where id = ${p.id}`,
)
/** The author, as commits name people. */
export const authorOf = (
  db: Db,
  id: number | null,
): Promise<{ readonly name: string; readonly email: string } | undefined> => db.one(author, { id })

const participants = statement(
  (p: Slots<{ id: number }>) => sql<{ user: Author }>`
    select ${authorJson(sql`who.id`)} as user from (
      select author_id as id from merge_requests where id = ${p.id}
      union select user_id from merge_request_assignees where merge_request_id = ${p.id}
      union select user_id from merge_request_reviewers where merge_request_id = ${p.id}
      union ${noteAuthors(p.id, sql`false`)}) who
     where who.id is not null order by who.id`,
)
export const participantsOf = async (db: Db, id: number): Promise<Author[]> =>
  (await db.rows(participants, { id })).map(({ user }) => user)

const reviewers = statement(
  (p: Slots<{ id: number }>) => sql<{ user: Author; state: string; created_at: string }>`
    select ${authorJson(sql`r.user_id`)} as user, r.state, m.created_at
      from merge_request_reviewers r join merge_requests m on m.id = r.merge_request_id
     where r.merge_request_id = ${p.id} order by r.user_id`,
)
export const reviewersOf = (
  db: Db,
  id: number,
): Promise<{ readonly user: Author; readonly state: string; readonly created_at: string }[]> =>
  db.rows(reviewers, { id })

const subscribe = statement(
  (p: Slots<{ id: number; user_id: number; subscribed: boolean }>) => sql`
    insert into noteable_subscriptions (noteable_id, user_id, subscribed) values (${p.id}, ${p.user_id}, ${p.subscribed})
    on conflict (noteable_id, user_id) do update set subscribed = excluded.subscribed`,
)
export const setSubscribed = (
  db: Db,
  who: { readonly id: number; readonly user_id: number; readonly subscribed: boolean },
): Promise<number> => db.run(subscribe, who)

const project = statement(
  (p: Slots<{ id: number; user_id: number }>) => sql<Project>`
    select p.*, n.traversal_ids,
           coalesce(${roleInProject(heldBy(p.user_id), sql`p.id`, sql`n.traversal_ids`)}, 0) as role
      from projects p join namespaces n on n.id = p.namespace_id where p.id = ${p.id}`,
)
/** A project with what the user holds on it, whether it shows or not. */
export const findProject = (db: Db, id: number, userId: number): Promise<Project | undefined> =>
  db.one(project, { id, user_id: userId })

const mergeError = statement(
  (p: Slots<{ id: number; text: string | null }>) => sql`
    update merge_requests set merge_error = ${p.text} where id = ${p.id} and merge_error is distinct from ${p.text}`,
)
/** Why the last attempt at its branches failed; null when it did not. */
export const noteMergeError = (db: Db, id: number, text: string | null): Promise<number> =>
  db.run(mergeError, { id, text })

const milestone = statement(
  (p: Slots<{ project_id: number; line: readonly number[]; title: string }>) => sql<{ id: number }>`
    select id from milestones
     where title = ${p.title} and (project_id = ${p.project_id} or group_id = any(${p.line}::bigint[]))
     order by project_id is null, id limit 1`,
)
/** A milestone of the project, else of a group above it. */
export const findMilestoneByTitle = async (
  db: Db,
  { id, traversal_ids }: Pick<Project, 'id' | 'traversal_ids'>,
  title: string,
): Promise<number | undefined> =>
  (await db.one(milestone, { project_id: id, line: traversal_ids, title }))?.id

const assignees = statement(
  (p: Slots<{ id: number }>) => sql<{ user_id: number }>`
    select user_id from merge_request_assignees where merge_request_id = ${p.id} order by user_id`,
)
export const assigneesOf = async (db: Db, id: number): Promise<number[]> =>
  (await db.rows(assignees, { id })).map(({ user_id }) => user_id)

const named = statement(
  (p: Slots<{ names: readonly string[] }>) => sql<{ id: number }>`
    select id from users where username = any(${p.names}::text[]) or id::text = any(${p.names}::text[]) order by id`,
)
/** The users of these usernames or ids. */
export const usersNamed = async (db: Db, names: readonly string[]): Promise<number[]> =>
  names.length === 0 ? [] : (await db.rows(named, { names })).map(({ id }) => id)
