import { sql } from 'kysely'
import { repositoryPath } from '../../core/places/projects.ts'
import { statement, type Slots } from '../../db/statement.ts'
import { presentTime } from '../../records/conversation/noteable.ts'
import {
  mergeStatusOf,
  shownMergeRequests,
  type MergeRequestShown,
} from '../../records/merge_requests/merge_request.ts'
import {
  commitPayload,
  isEmpty,
  labelPayloads,
  peoplePayloads,
  projectPayload,
  repositoryPayload,
  userPayload,
  type EventRow,
  type Payload,
  type ProjectPayload,
  type Site,
} from './common.ts'

const one = statement(
  (p: Slots<{ id: number }>) =>
    sql<MergeRequestShown>`${shownMergeRequests(sql`select ${p.id}::bigint as id`)}`,
)
export const findMergeRequestRow = ({ db }: Site, id: number): Promise<MergeRequestShown | undefined> =>
  db.one(one, { id })

const headPipeline = statement(
  (p: Slots<{ project_id: number; sha: string }>) => sql<{ id: number }>`
    select id from pipelines where project_id = ${p.project_id} and sha = ${p.sha} order by id desc limit 1`,
)
const STATES = { opened: 1, closed: 2, merged: 3, locked: 4 } as const

const timesOf = (row: MergeRequestShown): Payload => ({
  ...presentTime(row),
  time_change: 0,
  human_time_change: null,
})
const branchesAndPeople = (row: MergeRequestShown): Payload => ({
  source_branch: row.source_branch,
  target_branch: row.target_branch,
  source_project_id: row.source_project_id,
  target_project_id: row.project_id,
  author_id: row.author?.id ?? null,
  assignee_id: row.assignees[0]?.id ?? null,
  assignee_ids: row.assignees.map(({ id }) => id),
  reviewer_ids: row.reviewers.map(({ id }) => id),
  milestone_id: row.milestone_id,
})

/** `object_attributes` of a merge request, without its labels and action. */
export async function mergeRequestAttributes(
  site: Site,
  row: MergeRequestShown,
  project: ProjectPayload,
): Promise<Payload> {
  const source = await projectPayload(site, row.source_project_id)
  const { head_sha: sha, source_project_id } = row
  const repository = site.git.repository(repositoryPath(source_project_id ?? row.project_id))
  const pipeline =
    sha === null || source_project_id === null
      ? undefined
      : await site.db.one(headPipeline, { project_id: source_project_id, sha })
  return {
    id: row.id,
    iid: row.iid,
    title: row.title,
    description: row.description,
    ...branchesAndPeople(row),
    state: row.state,
    state_id: STATES[row.state],
    merge_status: row.merge_status === 'broken' ? 'cannot_be_merged' : row.merge_status,
    detailed_merge_status: mergeStatusOf(row),
    draft: row.draft,
    work_in_progress: row.draft,
    blocking_discussions_resolved: row.resolved,
    first_contribution: false,
    merge_when_pipeline_succeeds: row.auto_merge !== null,
    merge_user_id: row.merge_user?.id ?? null,
    merge_params: { force_remove_source_branch: row.remove_source_branch ? '1' : '0' },
    merge_error: row.merge_error,
    merge_commit_sha: row.merge_commit_sha,
    head_pipeline_id: pipeline?.id ?? null,
    created_at: row.created_at,
    updated_at: row.updated_at,
    updated_by_id: null,
    last_edited_at: null,
    last_edited_by_id: null,
    prepared_at: row.created_at,
    ...timesOf(row),
    url: `${project.web_url}/-/merge_requests/${row.iid}`,
    source: source ?? null,
    target: project,
    last_commit: sha === null ? null : ((await commitPayload(repository, sha, source ?? project)) ?? null),
  }
}

interface MergeRequestData {
  readonly changes?: Payload
  readonly labels?: { readonly added: readonly number[]; readonly removed: readonly number[] }
  readonly assignees?: { readonly added: readonly number[]; readonly removed: readonly number[] }
  readonly reviewers?: { readonly added: readonly number[]; readonly removed: readonly number[] }
  readonly oldrev?: string
}

/** A merge request that was opened, changed, approved, merged or closed. */
export async function mergeRequestHook(site: Site, event: EventRow): Promise<Payload | undefined> {
  const row = await findMergeRequestRow(site, event.target_id ?? 0)
  const project = await projectPayload(site, event.project_id)
  if (row === undefined || project === undefined) return undefined
  const data: MergeRequestData = event.data
  const { labels, change } = await labelPayloads(site, row.id, data.labels)
  const idsOf = (people: readonly { readonly id: number }[]): number[] => people.map(({ id }) => id)
  const assigned = await peoplePayloads(site, idsOf(row.assignees), data.assignees)
  const reviewed = await peoplePayloads(site, idsOf(row.reviewers), data.reviewers)
  return {
    object_kind: 'merge_request',
    event_type: 'merge_request',
    user: await userPayload(site, event.author_id),
    project,
    object_attributes: {
      ...(await mergeRequestAttributes(site, row, project)),
      labels,
      action: event.action,
      ...(data.oldrev !== undefined && { oldrev: data.oldrev }),
    },
    labels,
    changes: {
      ...data.changes,
      ...(!isEmpty(change) && { labels: change }),
      ...(!isEmpty(assigned.change) && { assignees: assigned.change }),
      ...(!isEmpty(reviewed.change) && { reviewers: reviewed.change }),
    },
    repository: repositoryPayload(project),
    ...(assigned.people.length > 0 && { assignees: assigned.people }),
    ...(reviewed.people.length > 0 && { reviewers: reviewed.people }),
  }
}
