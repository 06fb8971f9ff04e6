import type { Generated, Selectable } from 'kysely'
import type { Id, Json, Times } from './columns.ts'

export type IntegrationType = 'http' | 'prometheus'
export type AlertSeverity = 'critical' | 'high' | 'medium' | 'low' | 'info' | 'unknown'
export type AlertStatus = 'triggered' | 'acknowledged' | 'resolved' | 'ignored'

/** An alert's attribute to the keys that lead to its value in a payload. */
export type AlertMapping = Readonly<Record<string, readonly (string | number)[]>>

export interface AlertIntegrationTable extends Times {
  id: Id
  project_id: number
  name: string
  type: IntegrationType
  endpoint_identifier: string
  active: Generated<boolean>
  key_digest: Buffer
  mapping: Json<AlertMapping> | null
}

export interface AlertSettingTable {
  project_id: number
  create_incidents: Generated<boolean>
  auto_close_incidents: Generated<boolean>
  incident_template: string | null
}

export interface AlertTable extends Times {
  id: Id
  project_id: number
  iid: number
  integration_id: number | null
  issue_id: number | null
  title: string
  description: string | null
  service: string | null
  monitoring_tool: string | null
  hosts: Generated<string[]>
  severity: AlertSeverity
  status: Generated<AlertStatus>
  environment: string | null
  fingerprint: Buffer | null
  events: Generated<number>
  started_at: Date
  ended_at: Date | null
  payload: Json<Record<string, unknown>>
}

export type AlertIntegration = Omit<Selectable<AlertIntegrationTable>, 'mapping'> & {
  readonly mapping: AlertMapping | null
}
export type Alert = Selectable<AlertTable>
