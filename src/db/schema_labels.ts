import type { Generated } from 'kysely'
import type { Id, Times } from './columns.ts'

// Labels, what bears them and who follows them.

export interface LabelTable extends Times {
  id: Id
  group_id: number | null
  project_id: number | null
  title: string
  color: string
  description: string | null
  lock_on_merge: Generated<boolean>
}

export interface LabelLinkTable {
  label_id: number
  noteable_id: number
  // What the database keeps of an issue or a merge request beside its links; null on other records.
  noteable_kind: Generated<'issue' | 'merge_request' | null>
  noteable_project_id: Generated<number | null>
  noteable_created_at: Generated<Date | null>
  noteable_state: Generated<string | null>
  noteable_confidential: Generated<boolean | null>
  noteable_milestone_id: Generated<number | null>
  /** Of issues only. */
  noteable_author_id: Generated<number | null>
  /** All labels that the record bears; null where they are more than 64. */
  label_ids: Generated<number[] | null>
}

export interface LabelSubscriptionTable {
  label_id: number
  user_id: number
}
