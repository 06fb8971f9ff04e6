import type { Generated, Selectable } from 'kysely'
import type { Id, Times } from './columns.ts'

export interface ErrorTrackingSettingTable extends Times {
  project_id: number
  active: boolean
  integrated: boolean
}

export interface ErrorTrackingClientKeyTable extends Times {
  id: Id
  project_id: number
  digest: Buffer
  sealed: Buffer
  active: Generated<boolean>
}

export type ErrorTrackingSetting = Selectable<ErrorTrackingSettingTable>
export type ErrorTrackingClientKey = Selectable<ErrorTrackingClientKeyTable>
