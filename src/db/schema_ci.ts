import type { Selectable } from 'kysely'
import type { Id, Times } from './columns.ts'

// Pipelines, and what starts, runs and orders their jobs.

export interface TriggerTokenTable extends Times {
  id: Id
  project_id: number
  owner_id: number | null
  description: string
  digest: Buffer
  sealed: Buffer
  last_used_at: Date | null
}

export type TriggerToken = Selectable<TriggerTokenTable>
