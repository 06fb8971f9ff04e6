import { sql } from 'kysely'
import type { Db } from '../../db/db.ts'
import type { MergeRequest } from '../../db/schema/planning.ts'
import { q, statement, statements, type Slots } from '../../db/statement.ts'
import type { Instance } from '../../instance.ts'
import { repositoryPath } from '../places/projects.ts'
import { ROLES, heldBy, roleInProject } from '../sight/roles.ts'

// The rows of a merge request, as its changes read and write them.

export interface MergeRequestFields {
  readonly title: string
  readonly description: string | null
  readonly state: MergeRequest['state']
  readonly target_branch: string
  readonly milestone_id: number | null
  readonly squash: boolean
  readonly remove_source_branch: boolean
  readonly allow_collaboration: boolean
  readonly discussion_locked: boolean
  readonly closed_at: string | null
  readonly closed_by_id: number | null
}

/** The fields as they are. */
export const mergeRequestFields = (row: MergeRequest): MergeRequestFields => ({
  title: row.title,
  description: row.description,
  state: row.state,
  target_branch: row.target_branch,
  milestone_id: row.milestone_id,
  squash: row.squash,
  remove_source_branch: row.remove_source_branch,
  allow_collaboration: row.allow_collaboration,
  discussion_locked: row.discussion_locked,
  closed_at: row.closed_at?.toISOString() ?? null,
  closed_by_id: row.closed_by_id,
})

const lockOne = statement((p: Slots<{ id: number }>) =>
  q.selectFrom('merge_requests').selectAll().where('id', '=', p.id).forUpdate(),
)
/** The merge request as it is now; others who would change it wait. */
export const lockMergeRequest = (db: Db, id: number): Promise<MergeRequest | undefined> =>
  db.one(lockOne, { id })

const update = statement(
  (p: Slots<MergeRequestFields & { id: number; updated_at: string | null }>) => sql`
    update merge_requests
       set title = ${p.title}, description = ${p.description}, state = ${p.state}, target_branch = ${p.target_branch},
           milestone_id = ${p.milestone_id}, squash = ${p.squash}, remove_source_branch = ${p.remove_source_branch},
           allow_collaboration = ${p.allow_collaboration}, discussion_locked = ${p.discussion_locked},
           closed_at = ${p.closed_at}, closed_by_id = ${p.closed_by_id},
           updated_at = coalesce(${p.updated_at}::timestamptz, now())
     where id = ${p.id}`,
)
/** Violates `merge_requests_open_key` when another open one has the same branches. */
export const writeMergeRequest = (
  db: Db,
  id: number,
  fields: MergeRequestFields,
  updatedAt: string | null = null,
): Promise<number> => db.run(update, { ...fields, id, updated_at: updatedAt })

export interface NewMergeRequest {
  readonly project_id: number
  readonly iid: number
  readonly author_id: number
  readonly title: string
  readonly description: string | null
  readonly source_project_id: number
  readonly source_branch: string
  readonly target_branch: string
  readonly squash: boolean
  readonly remove_source_branch: boolean
  readonly allow_collaboration: boolean
}
const insert = statement(
  (p: Slots<NewMergeRequest>) => sql<MergeRequest>`
    insert into merge_requests (project_id, iid, author_id, title, description, source_project_id, source_branch,
                                target_branch, squash, remove_source_branch, allow_collaboration)
    values (${p.project_id}, ${p.iid}, ${p.author_id}, ${p.title}, ${p.description}, ${p.source_project_id},
            ${p.source_branch}, ${p.target_branch}, ${p.squash}, ${p.remove_source_branch}, ${p.allow_collaboration})
    returning *`,
)
/** Violates `merge_requests_open_key` when another open one has the same branches. */
export async function insertMergeRequest(db: Db, values: NewMergeRequest): Promise<MergeRequest> {
  return db.insert(insert, values)
}

type Branches = Pick<NewMergeRequest, 'project_id' | 'source_project_id' | 'source_branch' | 'target_branch'>
const twin = statement(
  (p: Slots<Branches>) => sql<{ iid: number }>`
    select iid from merge_requests
     where source_project_id = ${p.source_project_id} and source_branch = ${p.source_branch}
       and project_id = ${p.project_id} and target_branch = ${p.target_branch} and state = 'opened'`,
)
/** The open one with these branches. */
export const findTwin = async (db: Db, branches: Branches): Promise<number | undefined> =>
  (await db.one(twin, branches))?.iid

const HEADS = 'refs/heads/'
/** Why a merge request cannot go into a branch: it would go into itself, or there is none of that name. */
export async function whyNotInto(
  git: Instance['git'],
  { project_id, source_project_id, source_branch }: MergeRequest,
  branch: string,
): Promise<'same' | 'missing' | undefined> {
  if (project_id === source_project_id && branch === source_branch) return 'same'
  const tip = await git.repository(repositoryPath(project_id)).ref(HEADS + branch)
  return tip === undefined ? 'missing' : undefined
}

export type Part = 'merge_request_assignees' | 'merge_request_reviewers'
export interface Given {
  readonly id: number
  readonly username: string
  /** False for whom it was taken from. */
  readonly added: boolean
}
const give = statements<{ part: Part }, { id: number; user_ids: readonly number[] }, Given>(
  (p, { part }) => sql`
    with gone as (
      delete from ${sql.table(part)}
       where merge_request_id = ${p.id} and user_id <> all(${p.user_ids}::bigint[])
      returning user_id
    ), fresh as (
      insert into ${sql.table(part)} (merge_request_id, user_id) select ${p.id}, unnest(${p.user_ids}::bigint[])
          on conflict do nothing
      returning user_id
    )
    select u.username, u.id, c.added
      from (select user_id, true as added from fresh union all select user_id, false from gone) c
      join users u on u.id = c.user_id
     order by u.id`,
)
/** Gives a part in a merge request to exactly these users; answers what changed. */
export const giveParts = (db: Db, id: number, part: Part, userIds: readonly number[]): Promise<Given[]> =>
  db.rows(give({ part }), { id, user_ids: userIds })

interface Place {
  readonly id: number
  readonly traversal_ids: readonly number[]
}
const held = roleInProject(heldBy(sql`u.id`), sql`p.id`, sql`line.ids`)
const readers = statement(
  (p: Slots<{ project_id: number; line: readonly number[]; user_ids: readonly number[] }>) => sql<{
    id: number
  }>`
    select u.id
      from users u, projects p, (select ${p.line}::bigint[] as ids) line, lateral (select ${held} as role offset 0) holds
     where p.id = ${p.project_id} and u.id = any(${p.user_ids}::bigint[]) and u.state = 'active'
       and (u.admin or holds.role >= ${sql.lit(ROLES.reporter)}
            or (p.repository_access_level = 'enabled'
                and (p.visibility = 'public'
                     or (p.visibility = 'internal' and (not u.external or holds.role >= ${sql.lit(ROLES.guest)})))))
     order by u.id`,
)
/** Those of the users who can see the merge requests of the project. */
export const readersOfCode = async (db: Db, project: Place, userIds: readonly number[]): Promise<number[]> =>
  userIds.length === 0
    ? []
    : (
        await db.rows(readers, { project_id: project.id, line: project.traversal_ids, user_ids: userIds })
      ).map(({ id }) => id)
