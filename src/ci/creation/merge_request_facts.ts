import { sql } from 'kysely'
import { pushRules } from '../../core/repositories/protected_branches.ts'
import type { Db } from '../../db/db.ts'
import type { MergeRequest } from '../../db/schema/planning.ts'
import { statement, type Slots } from '../../db/statement.ts'
import type { Instance } from '../../instance.ts'
import type { Variable } from '../config/plan.ts'
import { slugOf, variablesOf } from './predefined.ts'

// Variables of merge requests in pipelines, as published.

/** The branches of a merge request that a pipeline runs for. */
export type MergeRequestEnds = Pick<
  MergeRequest,
  'id' | 'iid' | 'project_id' | 'source_project_id' | 'source_branch'
> & { readonly head_sha: string; readonly base_sha: string }

const ends = statement(
  (p: Slots<{ id: number }>) => sql<MergeRequestEnds>`
    select m.id, m.iid, m.project_id, m.source_project_id, m.source_branch, d.head_sha, d.base_sha
      from merge_requests m, lateral (
        select d.head_sha, d.base_sha from merge_request_diffs d
         where d.merge_request_id = m.id order by d.id desc limit 1) d
     where m.id = ${p.id} and m.state = 'opened' and d.head_sha = m.head_sha and d.head_sha <> d.base_sha`,
)
/** Undefined where nothing of it could run: it is not open, or has no commits. */
export const findEnds = (db: Db, id: number): Promise<MergeRequestEnds | undefined> => db.one(ends, { id })

const endsOfPipeline = statement(
  (p: Slots<{ id: number; sha: string }>) => sql<MergeRequestEnds>`
    select m.id, m.iid, m.project_id, m.source_project_id, m.source_branch, d.head_sha, d.base_sha
      from merge_requests m join merge_request_diffs d on d.merge_request_id = m.id
     where m.id = ${p.id} and d.head_sha = ${p.sha} order by d.id desc limit 1`,
)
/** The same as they were for a pipeline of the merge request, whatever happened to it since. */
export const findEndsAt = (db: Db, id: number, sha: string): Promise<MergeRequestEnds | undefined> =>
  db.one(endsOfPipeline, { id, sha })

interface Facts extends Pick<
  MergeRequest,
  'id' | 'iid' | 'project_id' | 'source_project_id' | 'title' | 'source_branch' | 'target_branch' | 'squash'
> {
  readonly project_path: string
  readonly source_path: string | null
  readonly description: string
  readonly labels: string | null
  readonly milestone: string | null
  readonly assignees: string | null
  readonly diff_id: number
  readonly base_sha: string
}
const facts = statement(
  (p: Slots<{ id: number }>) => sql<Facts>`
    select m.id, m.iid, m.project_id, m.source_project_id, m.title, m.source_branch, m.target_branch, m.squash,
           p.full_path as project_path, s.full_path as source_path, coalesce(m.description, '') as description,
           (select string_agg(l.title, ',' order by l.title) from label_links k join labels l on l.id = k.label_id
             where k.noteable_id = m.id) as labels,
           (select title from milestones where id = m.milestone_id) as milestone,
           (select string_agg(u.username, ', ' order by u.id) from merge_request_assignees a
              join users u on u.id = a.user_id where a.merge_request_id = m.id) as assignees,
           d.id as diff_id, d.base_sha
      from merge_requests m join projects p on p.id = m.project_id
      left join projects s on s.id = m.source_project_id
      join lateral (select d.id, d.base_sha from merge_request_diffs d
                     where d.merge_request_id = m.id order by d.id desc limit 1) d on true
     where m.id = ${p.id}`,
)

/** Characters of a description that CI_MERGE_REQUEST_DESCRIPTION holds, as published. */
const MAX_DESCRIPTION = 2_700

async function ofMergeRequest({ db, config }: Tools, id: number): Promise<Variable[]> {
  const found = await db.one(facts, { id })
  if (found === undefined) return []
  const { iid, project_id, project_path, source_path, description } = found
  const protects = await pushRules(db, { id: project_id })
  return variablesOf({
    // The ref of the pipeline is nothing that a job could check out or push.
    CI_COMMIT_REF_NAME: found.source_branch,
    CI_COMMIT_REF_SLUG: slugOf(found.source_branch),
    CI_MERGE_REQUEST_ID: id,
    CI_MERGE_REQUEST_IID: iid,
    CI_MERGE_REQUEST_PROJECT_ID: project_id,
    CI_MERGE_REQUEST_PROJECT_PATH: project_path,
    CI_MERGE_REQUEST_PROJECT_URL: `${config.url}/${project_path}`,
    CI_MERGE_REQUEST_REF_PATH: `refs/merge-requests/${iid}/head`,
    CI_MERGE_REQUEST_TITLE: found.title,
    CI_MERGE_REQUEST_DESCRIPTION: description.slice(0, MAX_DESCRIPTION),
    CI_MERGE_REQUEST_DESCRIPTION_IS_TRUNCATED: description.length > MAX_DESCRIPTION,
    CI_MERGE_REQUEST_LABELS: found.labels,
    CI_MERGE_REQUEST_MILESTONE: found.milestone,
    CI_MERGE_REQUEST_ASSIGNEES: found.assignees,
    CI_MERGE_REQUEST_SOURCE_BRANCH_NAME: found.source_branch,
    CI_MERGE_REQUEST_SOURCE_BRANCH_SHA: '',
    CI_MERGE_REQUEST_SOURCE_BRANCH_PROTECTED:
      found.source_project_id !== null &&
      (await pushRules(db, { id: found.source_project_id }))(found.source_branch) !== undefined,
    CI_MERGE_REQUEST_SOURCE_PROJECT_ID: found.source_project_id,
    CI_MERGE_REQUEST_SOURCE_PROJECT_PATH: source_path,
    CI_MERGE_REQUEST_SOURCE_PROJECT_URL: source_path && `${config.url}/${source_path}`,
    CI_MERGE_REQUEST_TARGET_BRANCH_NAME: found.target_branch,
    CI_MERGE_REQUEST_TARGET_BRANCH_SHA: '',
    CI_MERGE_REQUEST_TARGET_BRANCH_PROTECTED: protects(found.target_branch) !== undefined,
    CI_MERGE_REQUEST_EVENT_TYPE: 'detached',
    CI_MERGE_REQUEST_DIFF_ID: found.diff_id,
    CI_MERGE_REQUEST_DIFF_BASE_SHA: found.base_sha,
    // No rule asks for approvals, so that every merge request is approved.
    CI_MERGE_REQUEST_APPROVED: true,
    CI_MERGE_REQUEST_SQUASH_ON_MERGE: found.squash,
  })
}

/** Open merge requests that CI_OPEN_MERGE_REQUESTS names, as published. */
const MAX_OPEN = 4
const open = statement(
  (p: Slots<{ project_id: number; branch: string }>) => sql<{ reference: string }>`
    select p.full_path || '!' || m.iid as reference
      from merge_requests m join projects p on p.id = m.project_id
     where m.source_project_id = ${p.project_id} and m.source_branch = ${p.branch} and m.state = 'opened'
     order by m.id limit ${sql.lit(MAX_OPEN)}`,
)

type Tools = Pick<Instance, 'db' | 'config'>
interface RunsFor {
  readonly project_id: number
  /** As the pipeline's row has it. */
  readonly ref: string
  readonly tag: boolean
  readonly merge_request_id: number | null
}

/** Variables of the merge request that a pipeline runs for, and of those that its branch has open. */
export async function mergeRequestVariables(tools: Tools, runs: RunsFor): Promise<Variable[]> {
  const { merge_request_id: id, project_id, ref, tag } = runs
  const own = id === null ? [] : await ofMergeRequest(tools, id)
  const branch = own.find(({ key }) => key === 'CI_MERGE_REQUEST_SOURCE_BRANCH_NAME')?.value ?? ref
  const source = own.find(({ key }) => key === 'CI_MERGE_REQUEST_SOURCE_PROJECT_ID')?.value
  const found = tag
    ? []
    : await tools.db.rows(open, { project_id: source === undefined ? project_id : Number(source), branch })
  const references = found.map(({ reference }) => reference).join(',')
  return [...own, ...variablesOf({ CI_OPEN_MERGE_REQUESTS: references === '' ? null : references })]
}
