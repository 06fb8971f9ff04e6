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
}

export interface LabelSubscriptionTable {
  label_id: number
  user_id: number
}
