import { sql } from 'kysely'
import { seesIssue } from '../../../core/sight/noteables.ts'
import { ROLES, type Viewer } from '../../../core/sight/roles.ts'
import type { Db } from '../../../db/db.ts'
import type { Pipeline } from '../../../db/schema/repositories.ts'
import { paged, pageStatement, type Listed } from '../../../db/pages.ts'
import { statement, type Slots } from '../../../db/statement.ts'
import { shownIssues, type IssueShown } from '../../../records/planning/issue.ts'
import { shownMergeRequests, type MergeRequestShown } from '../../../records/merge_requests/merge_request.ts'

/** One diff version of a merge request. */
export interface Version {
  readonly id: number
  readonly merge_request_id: number
  readonly base_sha: string
  readonly start_sha: string
  readonly head_sha: string
  readonly changes_count: string
  readonly created_at: Date
}

interface Page {
  readonly limit: number
  readonly offset: number
}
type PageSlots<T extends object> = Slots<T & { limit: number; offset: number }>

const versions = pageStatement((p: PageSlots<{ id: number }>) =>
  paged(
    sql<Version>`select * from merge_request_diffs where merge_request_id = ${p.id}
                    order by id desc limit ${p.limit} offset ${p.offset}`,
    sql`select from merge_request_diffs where merge_request_id = ${p.id}`,
  ),
)
/** The newest first. */
export const listVersions = (db: Db, id: number, page: Page): Promise<Listed<Version>> =>
  db.page(versions, { id, ...page })

const newest = statement(
  (p: Slots<{ id: number }>) => sql<Version>`
    select * from merge_request_diffs where merge_request_id = ${p.id} order by id desc limit 1`,
)
export const newestVersion = (db: Db, id: number): Promise<Version | undefined> => db.one(newest, { id })

const version = statement(
  (p: Slots<{ merge_request_id: number; id: number }>) => sql<Version>`
    select * from merge_request_diffs where merge_request_id = ${p.merge_request_id} and id = ${p.id}`,
)
export const findVersion = (db: Db, mergeRequestId: number, id: number): Promise<Version | undefined> =>
  db.one(version, { merge_request_id: mergeRequestId, id })

type IssueValues = { project_id: number; iids: readonly number[]; user_id: number | null; role: number }
const issues = pageStatement((p: PageSlots<IssueValues>) => {
  const where = sql`i.project_id = ${p.project_id} and i.iid = any(${p.iids}::int[])
    and ${seesIssue(p.user_id, sql`${p.role}::int`)}`
  return paged(
    shownIssues(
      sql`select i.id from issues i where ${where} order by i.iid limit ${p.limit} offset ${p.offset}`,
      p.user_id,
    ),
    sql`select from issues i where ${where}`,
  )
})
/** Those of the issues of a project that the viewer sees. */
export async function listIssuesAmong(
  db: Db,
  viewer: Viewer | null,
  {
    project,
    iids,
  }: { readonly project: { readonly id: number; readonly role: number }; readonly iids: number[] },
  page: Page,
): Promise<Listed<IssueShown>> {
  const role = viewer?.admin === true ? ROLES.owner : project.role
  const values = { project_id: project.id, iids, user_id: viewer?.id ?? null, role }
  return db.page(issues, { ...values, ...page })
}

type PipelineValues = { id: number; project_id: number; fork_id: number | null }
const pipelines = pageStatement((p: PageSlots<PipelineValues>) => {
  const where = sql`l.project_id = any(array[${p.project_id}, ${p.fork_id}]::bigint[])
    and l.sha in (select d.head_sha from merge_request_diffs d where d.merge_request_id = ${p.id})
    and (l.merge_request_id = ${p.id} or l.merge_request_id is null and l.project_id = ${p.project_id})`
  return paged(
    sql<Pipeline>`select l.* from pipelines l where ${where} order by l.id desc limit ${p.limit} offset ${p.offset}`,
    sql`select from pipelines l where ${where}`,
  )
})
/**
 * Its own pipelines and those of branches that ran for what it compared, the newest first; of the fork that it comes from
 * where `fork_id` names that.
 */
export const listPipelinesOf = (db: Db, where: PipelineValues, page: Page): Promise<Listed<Pipeline>> =>
  db.page(pipelines, { ...where, ...page })

const byCommit = pageStatement((p: PageSlots<{ project_id: number; sha: string }>) => {
  const found = sql`
    select m.id from merge_requests m
     where m.project_id = ${p.project_id}
       and m.id in (select c.merge_request_id from merge_request_commits c where c.sha = ${p.sha}
                    union all
                    select o.id from merge_requests o where o.project_id = ${p.project_id} and o.merge_commit_sha = ${p.sha}
                    union all
                    select o.id from merge_requests o where o.project_id = ${p.project_id} and o.squash_commit_sha = ${p.sha})`
  return paged(
    shownMergeRequests(
      sql`${found} order by m.created_at desc, m.id desc limit ${p.limit} offset ${p.offset}`,
    ),
    sql`select from (${found}) f`,
  )
})
/** The merge requests of a project that brought a commit. */
export const listByCommit = (
  db: Db,
  where: { readonly project_id: number; readonly sha: string },
  page: Page,
): Promise<Listed<MergeRequestShown>> => db.page(byCommit, { ...where, ...page })
