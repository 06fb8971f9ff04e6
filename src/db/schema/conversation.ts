import type { ColumnType, Generated, Selectable } from 'kysely'
import type { Id, Time, Times } from './columns.ts'

// The tables of what is said about noteables, and of what became of them.

export interface NoteableCommitTable {
  id: Id
  project_id: number
  sha: string
}

export interface DiscussionTable {
  id: Id
  key: string
  noteable_id: number
  individual_note: boolean
  internal: Generated<boolean>
  mentions_project_id: number | null
  mentions_code: Generated<boolean>
  mentions_noteable_id: number | null
  created_at: Time
}

export interface NoteTable extends Times {
  id: Id
  discussion_id: number
  noteable_id: number
  author_id: number | null
  type: 'DiscussionNote' | 'DiffNote' | null
  body: string
  internal: Generated<boolean>
  system_action: string | null
  mentions_project_id: number | null
  mentions_code: Generated<boolean>
  mentions_noteable_id: number | null
  diff_position: ColumnType<Record<string, unknown> | null, string | null | undefined, string | null>
  original_position: ColumnType<Record<string, unknown> | null, string | null | undefined, string | null>
  commit_id: string | null
  resolved_at: Date | null
  resolved_by_id: number | null
}

export interface AwardEmojiTable extends Times {
  id: Id
  name: string
  user_id: number
  noteable_id: number | null
  note_id: number | null
}

export interface NoteableSubscriptionTable {
  noteable_id: number
  user_id: number
  subscribed: boolean
}

interface EventTable {
  id: Id
  user_id: number | null
  created_at: Time
}

export interface ResourceLabelEventTable extends EventTable {
  noteable_id: number
  label_id: number | null
  action: 'add' | 'remove'
}

export interface ResourceStateEventTable extends EventTable {
  noteable_id: number
  state: 'opened' | 'closed' | 'reopened' | 'merged'
}

export interface ResourceMilestoneEventTable extends EventTable {
  noteable_id: number
  milestone_id: number | null
  action: 'add' | 'remove'
  state: string
}

export interface ResourceWeightEventTable extends EventTable {
  issue_id: number
  weight: number | null
}

export interface ResourceIterationEventTable extends EventTable {
  issue_id: number
  iteration_id: number | null
  action: 'add' | 'remove'
}

export interface TodoTable extends Times {
  id: Id
  user_id: number
  author_id: number | null
  project_id: number | null
  group_id: number | null
  noteable_id: number
  note_id: number | null
  action_name: string
  state: Generated<'pending' | 'done'>
}

export type Discussion = Selectable<DiscussionTable>
export type Note = Selectable<NoteTable>
export type AwardEmoji = Selectable<AwardEmojiTable>
