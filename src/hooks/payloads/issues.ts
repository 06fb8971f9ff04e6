import { sql } from 'kysely'
import { statement, type Slots } from '../../db/statement.ts'
import type { Issue } from '../../db/schema/planning.ts'
import { presentTime } from '../../records/conversation/noteable.ts'
import {
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

type IssueRow = Issue & { readonly assignee_ids: number[] }
const issue = statement(
  (p: Slots<{ id: number }>) => sql<IssueRow>`
    select i.*, array(select a.user_id from issue_assignees a where a.issue_id = i.id order by a.user_id) as assignee_ids
      from issues i where i.id = ${p.id}`,
)
export const findIssueRow = ({ db }: Site, id: number): Promise<IssueRow | undefined> => db.one(issue, { id })

const TYPES = { issue: 'Issue', incident: 'Incident', test_case: 'Test Case', task: 'Task' } as const

/** `object_attributes` of an issue, without its labels and action. */
export function issueAttributes(row: IssueRow, project: ProjectPayload): Payload {
  const time = presentTime(row)
  return {
    id: row.id,
    iid: row.iid,
    title: row.title,
    description: row.description,
    author_id: row.author_id,
    assignee_ids: row.assignee_ids,
    assignee_id: row.assignee_ids[0] ?? null,
    project_id: row.project_id,
    state: row.state,
    state_id: row.state === 'opened' ? 1 : 2,
    confidential: row.confidential,
    discussion_locked: row.discussion_locked,
    due_date: row.due_date,
    milestone_id: row.milestone_id,
    moved_to_id: row.moved_to_id,
    duplicated_to_id: null,
    relative_position: null,
    created_at: row.created_at,
    updated_at: row.updated_at,
    updated_by_id: null,
    closed_at: row.closed_at,
    last_edited_at: null,
    last_edited_by_id: null,
    time_estimate: row.time_estimate,
    total_time_spent: row.total_time_spent,
    time_change: 0,
    human_time_estimate: time.human_time_estimate,
    human_total_time_spent: time.human_total_time_spent,
    human_time_change: null,
    weight: row.weight,
    health_status: null,
    type: TYPES[row.issue_type],
    severity: row.severity ?? 'unknown',
    url: `${project.web_url}/-/issues/${row.iid}`,
    customer_relations_contacts: [],
  }
}

interface IssueData {
  readonly changes?: Payload
  readonly labels?: { readonly added: readonly number[]; readonly removed: readonly number[] }
  readonly assignees?: { readonly added: readonly number[]; readonly removed: readonly number[] }
}

/** An issue that was opened, closed, reopened or changed. */
export async function issueHook(site: Site, event: EventRow): Promise<Payload | undefined> {
  const row = await findIssueRow(site, event.target_id ?? 0)
  const project = await projectPayload(site, event.project_id)
  if (row === undefined || project === undefined) return undefined
  const { changes = {}, labels: moved, assignees: given }: IssueData = event.data
  const { labels, change } = await labelPayloads(site, row.id, moved)
  const { people, change: reassigned } = await peoplePayloads(site, row.assignee_ids, given)
  return {
    object_kind: row.issue_type === 'issue' || row.issue_type === 'incident' ? 'issue' : 'work_item',
    event_type: row.confidential ? 'confidential_issue' : 'issue',
    user: await userPayload(site, event.author_id),
    project,
    object_attributes: { ...issueAttributes(row, project), labels, action: event.action },
    labels,
    changes: {
      ...changes,
      ...(!isEmpty(change) && { labels: change }),
      ...(!isEmpty(reassigned) && { assignees: reassigned }),
    },
    repository: repositoryPayload(project),
    assignees: people,
    ...(people[0] && { assignee: people[0] }),
  }
}
