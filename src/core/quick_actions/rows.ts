import { sql } from 'kysely'
import type { Db } from '../../db/db.ts'
import type { Epic, Issue, MergeRequest } from '../../db/schema/planning.ts'
import { statement, statements, type Slots } from '../../db/statement.ts'
import type { Project } from '../places/projects.ts'
import { heldBy, roleInProject } from '../sight/roles.ts'

// The rows that commands in a text look up and change beside the record itself.

export type Commanded = 'issue' | 'merge_request' | 'epic'
/** Those that people are given, and that take time. */
export type Assigned = Exclude<Commanded, 'epic'>
const TABLES = { issue: 'issues', merge_request: 'merge_requests', epic: 'epics' } as const
/** The author, and the assignees or reviewers. */
export type Part = 'assignee' | 'reviewer'

const byName = statement(
  (p: Slots<{ names: readonly string[] }>) => sql<{ id: number; username: string }>`
    select id, username from users
     where lower(username) = any(${p.names}::text[]) and state = 'active' order by id`,
)
export const findUsers = (db: Db, names: readonly string[]): Promise<{ id: number; username: string }[]> =>
  names.length === 0 ? Promise.resolve([]) : db.rows(byName, { names })

const milestone = statement(
  (p: Slots<{ title: string; project_id: number; line: readonly number[] }>) => sql<{
    id: number
    title: string
  }>`
    select id, title from milestones
     where title = ${p.title} and state = 'active'
       and (project_id = ${p.project_id} or group_id = any(${p.line}::bigint[]))
     order by project_id is null, id limit 1`,
)
/** An open milestone of that title, of the project or of a group above it. */
export const findMilestoneNamed = (
  db: Db,
  project: { readonly id: number; readonly traversal_ids: readonly number[] },
  title: string,
): Promise<{ id: number; title: string } | undefined> =>
  db.one(milestone, { title, project_id: project.id, line: project.traversal_ids })

const iteration = statement(
  (p: Slots<{ id: number | null; title: string | null; line: readonly number[] }>) => sql<{ id: number }>`
    select id from iterations
     where group_id = any(${p.line}::bigint[]) and (id = ${p.id}::bigint or title = ${p.title})
     order by due_date < today(), start_date, id limit 1`,
)
/** The iteration of a group above by its id or its title, the one that is now or next where several bear it. */
export const findIterationNamed = async (
  db: Db,
  line: readonly number[],
  { id = null, title = null }: { readonly id?: number | null; readonly title?: string | null },
): Promise<number | undefined> => (await db.one(iteration, { id, title, line }))?.id

interface CadenceNow {
  readonly current: number | null
  readonly next: number | null
}
const cadences = statement(
  (p: Slots<{ id: number | null; title: string | null; line: readonly number[] }>) => sql<CadenceNow>`
    select (select t.id from iterations t where t.iterations_cadence_id = c.id
               and t.start_date <= today() and t.due_date >= today() limit 1) as current,
           (select t.id from iterations t where t.iterations_cadence_id = c.id
               and t.start_date > today() order by t.start_date limit 1) as next
      from iteration_cadences c
     where c.group_id = any(${p.line}::bigint[])
       and (${p.id}::bigint is null and ${p.title}::text is null or c.id = ${p.id} or c.title = ${p.title})
     order by array_position(${p.line}::bigint[], c.group_id) desc, c.id limit 2`,
)
/** Of the cadences of the groups above two at most, the nearest first, with what is now and next in each. */
export const findCadences = (
  db: Db,
  line: readonly number[],
  { id = null, title = null }: { readonly id?: number | null; readonly title?: string | null },
): Promise<CadenceNow[]> => db.rows(cadences, { id, title, line })

const holders = statements<{ kind: Assigned; part: Part }, { id: number }, { id: number; username: string }>(
  (p, { kind, part }) => sql`
    select u.id, u.username from ${sql.table(`${kind}_${part}s`)} a join users u on u.id = a.user_id
     where a.${sql.ref(`${kind}_id`)} = ${p.id} order by u.id`,
)
/** Present assignees or reviewers; issues have assignees alone. */
export const holdersNow = (
  db: Db,
  { kind, id }: { readonly kind: Assigned; readonly id: number },
  part: Part,
): Promise<{ id: number; username: string }[]> => db.rows(holders({ kind, part }), { id })

const epicThere = statement(
  (p: Slots<{ path: string; iid: number; line: readonly number[] }>) => sql<{ id: number }>`
    select e.id from namespaces n join epics e on e.group_id = n.id and e.iid = ${p.iid}
     where n.id = any(${p.line}::bigint[]) and lower(n.full_path) = lower(${p.path})`,
)
/** The id of an epic of a group above, whether it is seen or not. */
export const findEpicAt = async (
  db: Db,
  line: readonly number[],
  { path, iid }: { readonly path: string; readonly iid: number },
): Promise<number | undefined> => (await db.one(epicThere, { path, iid, line }))?.id

export type CommandedRow = Issue | MergeRequest | Epic
const row = statements<{ kind: Commanded }, { id: number }, CommandedRow>(
  (p, { kind }) => sql`select * from ${sql.table(TABLES[kind])} where id = ${p.id} for update`,
)
/** The record as it is; others who would change it wait. */
export const holdRecord = (db: Db, kind: Commanded, id: number): Promise<CommandedRow | undefined> =>
  db.one(row({ kind }), { id })

interface Times {
  readonly id: number
  readonly estimate: number
  readonly spent: number
}
const times = statements<{ kind: Assigned }, Times, unknown>(
  (p, { kind }) => sql`
    update ${sql.table(TABLES[kind])}
       set time_estimate = ${p.estimate}, total_time_spent = ${p.spent}, updated_at = now()
     where id = ${p.id}`,
)
export const setTimes = (db: Db, kind: Assigned, values: Times): Promise<number> =>
  db.run(times({ kind }), values)

const subscribe = statement(
  (p: Slots<{ noteable_id: number; user_id: number; subscribed: boolean }>) => sql`
    insert into noteable_subscriptions (noteable_id, user_id, subscribed)
    values (${p.noteable_id}, ${p.user_id}, ${p.subscribed})
    on conflict (noteable_id, user_id) do update set subscribed = excluded.subscribed`,
)
export const setSubscribed = (
  db: Db,
  values: { readonly noteable_id: number; readonly user_id: number; readonly subscribed: boolean },
): Promise<number> => db.run(subscribe, values)

const awarded = statement(
  (p: Slots<{ noteable_id: number; user_id: number; name: string }>) => sql<{ id: number }>`
    select id from award_emoji
     where noteable_id = ${p.noteable_id} and user_id = ${p.user_id} and name = ${p.name}`,
)
/** The id of the user's reaction of that name. */
export const findAward = async (
  db: Db,
  values: { readonly noteable_id: number; readonly user_id: number; readonly name: string },
): Promise<number | undefined> => (await db.one(awarded, values))?.id

interface Metadata {
  readonly labels: readonly { readonly id: number; readonly title: string }[]
  readonly milestone_id: number | null
}
const metadata = statements<{ kind: Assigned }, { id: number }, Metadata>(
  (p, { kind }) => sql`
    select r.milestone_id,
           coalesce((select json_agg(json_build_object('id', l.id, 'title', l.title) order by l.title)
                       from label_links k join labels l on l.id = k.label_id where k.noteable_id = r.id), '[]') as labels
      from ${sql.table(TABLES[kind])} r where r.id = ${p.id}`,
)
/** The labels and the milestone of a record. */
export const metadataOf = async (
  db: Db,
  { kind, id }: { readonly kind: Assigned; readonly id: number },
): Promise<Metadata> => (await db.one(metadata({ kind }), { id })) ?? { labels: [], milestone_id: null }

const projectAt = statement(
  (p: Slots<{ path: string; user_id: number }>) => sql<Project>`
    select p.*, n.traversal_ids,
           coalesce(${roleInProject(heldBy(p.user_id), sql`p.id`, sql`n.traversal_ids`)}, 0) as role
      from projects p join namespaces n on n.id = p.namespace_id where lower(p.full_path) = lower(${p.path})`,
)
/** A project by its full path, with what the user holds on it, whether it shows or not. */
export const findProjectAt = (db: Db, path: string, userId: number): Promise<Project | undefined> =>
  db.one(projectAt, { path, user_id: userId })
