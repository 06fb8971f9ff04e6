import type { Generated, JSONColumnType, Selectable } from 'kysely'
import type { Id, Time, Times } from './columns.ts'

export type VulnerabilityState = 'detected' | 'confirmed' | 'dismissed' | 'resolved'
export type Severity = 'info' | 'unknown' | 'low' | 'medium' | 'high' | 'critical'

/** A name by which a weakness is known elsewhere; `type` is `cve`, `cwe` or the scanner's own. */
export interface Identifier {
  readonly type: string
  readonly name: string
  readonly value: string
  readonly url?: string
}

export interface VulnerabilityTable extends Times {
  id: Id
  project_id: number
  report_type: string
  scanner: string
  scanner_name: string
  fingerprint: Buffer
  name: string
  description: Generated<string>
  solution: Generated<string>
  severity: Severity
  state: Generated<VulnerabilityState>
  dismissal_reason: string | null
  identifiers: JSONColumnType<readonly Identifier[]>
  location: JSONColumnType<Readonly<Record<string, unknown>>>
  cvss_vectors: Generated<string[]>
  gone_at: Date | null
}

export interface VulnerabilityTransitionTable {
  id: Id
  vulnerability_id: number
  author_id: number | null
  from_state: VulnerabilityState
  to_state: VulnerabilityState
  dismissal_reason: string | null
  comment: Generated<string>
  created_at: Time
}

export interface SecurityDashboardProjectTable {
  user_id: number
  project_id: number
  created_at: Time
}

export interface VulnerabilityExportTable extends Times {
  id: Id
  author_id: number
  project_id: number | null
  group_id: number | null
  format: Generated<'csv'>
  status: Generated<'created' | 'running' | 'finished' | 'failed'>
  attempts: Generated<number>
  project_ids: Generated<number[]>
  row_count: Generated<number>
  blob: string | null
  size: number | null
  started_at: Date | null
  finished_at: Date | null
}

export interface SecurityScanTable extends Times {
  id: Id
  project_id: number
  pipeline_id: number
  job_id: number
  report_type: string
  status: 'succeeded' | 'job_failed' | 'report_error' | 'outdated'
  faults: Generated<string[]>
  created_count: Generated<number>
  updated_count: Generated<number>
  unchanged_count: Generated<number>
}

export type Vulnerability = Selectable<VulnerabilityTable>
export type VulnerabilityExport = Selectable<VulnerabilityExportTable>
export type SecurityScan = Selectable<SecurityScanTable>
