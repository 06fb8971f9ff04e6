import type { Identifier } from '../db/schema_vulnerabilities.ts'
import type { ExportedRow } from './export_rows.ts'

/** The published columns, in their order. */
export const HEADER = [
  'Group Name',
  'Project Name',
  'Tool',
  'Scanner Name',
  'Status',
  'Vulnerability',
  'Details',
  'Additional Info',
  'Severity',
  'CVE',
  'CWE',
  'Other Identifiers',
  'Detected At',
  'Location',
  'Activity',
  'Comments',
  'Full Path',
  'CVSS Vectors',
  'Dismissal Reason',
] as const

const oneLine = (text: string): string => (/[\r\n]/.test(text) ? text.replaceAll(/\r\n?|\n/g, ' ') : text)

/** `false_positive` as people read it: `False positive`. */
const humanized = (word: string): string => word.charAt(0).toUpperCase() + word.slice(1).replaceAll('_', ' ')

/** The cells of a row under `HEADER`. */
export function cellsOf(row: ExportedRow): string[] {
  const identifiers = JSON.parse(row.identifiers) as Identifier[]
  const named = (isWanted: (type: string) => boolean): string =>
    identifiers
      .filter(({ type }) => isWanted(type))
      .map(({ name }) => name)
      .join('; ')
  const cells = [
    row.group_name ?? '',
    row.project_name,
    row.report_type,
    row.scanner_name,
    row.state,
    row.name,
    row.description,
    '',
    row.severity,
    named((type) => type === 'cve'),
    named((type) => type === 'cwe'),
    named((type) => type !== 'cve' && type !== 'cwe'),
    row.detected_at,
    row.location,
    String(row.is_gone),
    row.comments ?? '',
    row.full_path,
    row.cvss_vectors,
    row.dismissal_reason === null ? '' : humanized(row.dismissal_reason),
  ]
  return cells.map(oneLine)
}
