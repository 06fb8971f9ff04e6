import type { ColumnType, Generated, Selectable } from 'kysely'
import type { Id, Time, Times, Visibility } from './columns.ts'
import type { AlertSeverity } from './alerts.ts'

// The tables of what people plan, and talk about. The database gives a noteable its id, whatever is inserted.

export interface NoteableTable {
  id: Id
  kind: 'issue' | 'merge_request' | 'snippet' | 'epic' | 'commit'
}

export interface IssueTable extends Times {
  id: Id
  iid: number
  project_id: number
  author_id: number | null
  title: string
  description: string | null
  state: Generated<'opened' | 'closed'>
  issue_type: Generated<'issue' | 'incident' | 'test_case' | 'task'>
  /** Of an incident; null is unknown. */
  severity: AlertSeverity | null
  confidential: Generated<boolean>
  milestone_id: number | null
  iteration_id: number | null
  epic_id: number | null
  weight: number | null
  due_date: string | null
  discussion_locked: Generated<boolean>
  time_estimate: Generated<number>
  total_time_spent: Generated<number>
  user_notes_count: Generated<number>
  upvotes: Generated<number>
  downvotes: Generated<number>
  closed_at: Date | null
  closed_by_id: number | null
  moved_to_id: number | null
}

export interface IssueAssigneeTable {
  issue_id: number
  user_id: number
}

export interface MergeRequestTable extends Times {
  id: Id
  iid: number
  project_id: number
  author_id: number | null
  title: string
  description: string | null
  state: Generated<'opened' | 'closed' | 'locked' | 'merged'>
  source_project_id: number | null
  source_branch: Generated<string>
  target_branch: Generated<string>
  milestone_id: number | null
  squash: Generated<boolean>
  remove_source_branch: Generated<boolean>
  allow_collaboration: Generated<boolean>
  discussion_locked: Generated<boolean>
  time_estimate: Generated<number>
  total_time_spent: Generated<number>
  user_notes_count: Generated<number>
  upvotes: Generated<number>
  downvotes: Generated<number>
  head_sha: string | null
  merge_status: Generated<'unchecked' | 'can_be_merged' | 'cannot_be_merged' | 'broken'>
  merge_error: string | null
  /** As the title says. */
  draft: ColumnType<boolean, never, never>
  merge_commit_sha: string | null
  squash_commit_sha: string | null
  merged_at: Date | null
  merged_by_id: number | null
  closed_at: Date | null
  closed_by_id: number | null
}

export interface MergeRequestAssigneeTable {
  merge_request_id: number
  user_id: number
}

export interface MergeRequestReviewerTable {
  merge_request_id: number
  user_id: number
  state: Generated<string>
}

export interface MergeRequestDiffTable {
  id: Id
  merge_request_id: number
  base_sha: string
  start_sha: string
  head_sha: string
  changes_count: Generated<string>
  committer_emails: string[] | null
  created_at: Time
}

export interface MergeRequestMergeTable {
  merge_request_id: number
  commit_sha: string
  merge_commit_sha: string | null
  squash_commit_sha: string | null
  user_id: number | null
  created_at: Time
}

export interface MergeRequestApprovalTable {
  merge_request_id: number
  user_id: number
  created_at: Time
}

export interface SnippetTable extends Times {
  id: Id
  project_id: number
  author_id: number | null
  title: string
  description: string | null
  visibility: Generated<Visibility>
  user_notes_count: Generated<number>
}

export interface SnippetFileTable {
  snippet_id: number
  position: number
  path: string
  content: string
}

export interface EpicTable extends Times {
  id: Id
  iid: number
  group_id: number
  author_id: number | null
  title: string
  description: string | null
  state: Generated<'opened' | 'closed'>
  confidential: Generated<boolean>
  discussion_locked: Generated<boolean>
  parent_id: number | null
  start_date: string | null
  due_date: string | null
  color: Generated<string>
  user_notes_count: Generated<number>
  closed_at: Date | null
  closed_by_id: number | null
}

export interface MilestoneTable extends Times {
  id: Id
  iid: number
  project_id: number | null
  group_id: number | null
  title: string
  description: string | null
  state: Generated<'active' | 'closed'>
  start_date: string | null
  due_date: string | null
}

export interface IterationCadenceTable extends Times {
  id: Id
  group_id: number
  title: string
  description: string | null
  automatic: Generated<boolean>
  active: Generated<boolean>
  roll_over: Generated<boolean>
  start_date: string | null
  duration_in_weeks: number | null
  iterations_in_advance: number | null
  rolled_over_on: string | null
}

export interface IterationTable extends Times {
  id: Id
  iid: number
  sequence: number
  group_id: number
  iterations_cadence_id: number
  title: string | null
  description: string | null
  start_date: string
  due_date: string
}

export interface LabelPriorityTable {
  project_id: number
  label_id: number
  priority: number
}

export interface NamespaceCounterTable {
  namespace_id: number
  counts: string
  last: Generated<number>
}

export type Issue = Selectable<IssueTable>
export type MergeRequest = Selectable<MergeRequestTable>
export type Snippet = Selectable<SnippetTable>
export type Epic = Selectable<EpicTable>
export type Milestone = Selectable<MilestoneTable>
export type Iteration = Selectable<IterationTable>
