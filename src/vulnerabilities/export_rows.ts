import { sql, type RawBuilder } from 'kysely'
import type { Db } from '../db/client.ts'
import { statement, type Slots } from '../db/statement.ts'

// The rows of an export, read from a cursor: as many as one fetch holds are in memory, however many there are.

/** Rows that one fetch reads. */
const FETCH = 1000

export interface ExportedRow {
  readonly group_name: string | null
  readonly project_name: string
  readonly full_path: string
  readonly report_type: string
  readonly scanner_name: string
  readonly state: string
  readonly name: string
  readonly description: string
  readonly severity: string
  readonly identifiers: string
  readonly detected_at: string
  readonly location: string
  readonly is_gone: boolean
  readonly comments: string | null
  readonly cvss_vectors: string
  readonly dismissal_reason: string | null
}

/** What an export of some projects reads, without its cursor. `bench/exports.ts` copies the same out for comparison. */
export const exported = (projectIds: RawBuilder<unknown>): RawBuilder<ExportedRow> => sql<ExportedRow>`
  select case when n.kind = 'group' then n.name end as group_name, p.name as project_name, p.full_path, v.report_type,
         v.scanner_name, v.state, v.name, v.description, v.severity, v.identifiers::text as identifiers,
         to_char(v.created_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as detected_at,
         v.location::text as location, v.gone_at is not null as is_gone,
         (select string_agg(t.comment, '; ' order by t.id) from vulnerability_transitions t
           where t.vulnerability_id = v.id and t.comment <> '') as comments,
         array_to_string(v.cvss_vectors, '; ') as cvss_vectors, v.dismissal_reason
    from vulnerabilities v
    join projects p on p.id = v.project_id
    join namespaces n on n.id = p.namespace_id
   where v.project_id = any(${projectIds})
   order by v.project_id, v.id`

const open = statement(
  (p: Slots<{ project_ids: readonly number[] }>) =>
    sql`declare exported no scroll cursor for ${exported(sql`${p.project_ids}::bigint[]`)}`,
)
const fetch = statement(() => sql<ExportedRow>`fetch ${sql.lit(FETCH)} from exported`)

/** The vulnerabilities of projects, a fetch at a time. Call inside a transaction. */
export async function* readRows(tx: Db, project_ids: readonly number[]): AsyncGenerator<ExportedRow[]> {
  await tx.run(open, { project_ids })
  for (;;) {
    const rows = await tx.rows(fetch, {})
    if (rows.length > 0) yield rows
    if (rows.length < FETCH) return
  }
}
