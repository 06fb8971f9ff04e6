import { sql, type RawBuilder } from 'kysely'
import type { Sql } from '../db/statement.ts'

// The file of an export is made by PostgreSQL: COPY writes a million rows in the time in which a process parses, escapes
// and quotes a tenth of them.

/** Code points that begin a formula in a spreadsheet: = + - @, also in full width, tab and carriage return. */
const FORMULAS = [0x3d, 0x2b, 0x2d, 0x40, 0xff1d, 0xff0b, 0xff0d, 0xff20, 0x09, 0x0d]

/** A free text as a cell: on one line, and no formula. Empty cells are null, which COPY writes without quotes. */
function cell(name: string): Sql {
  const text = sql.ref(`r.${name}`)
  const line = sql`
    case when strpos(${text}, e'\n') + strpos(${text}, e'\r') = 0 then ${text}
         else regexp_replace(${text}, '\r\n?|\n', ' ', 'g') end`
  return sql`case when ascii(${line}) in (${sql.join(FORMULAS.map((code) => sql.lit(code)))}) then '''' || ${line}
                  else nullif(${line}, '') end`
}
/** A word of ours, or a time. */
const word = (name: string): Sql => sql.ref(`r.${name}`)

/** The published columns, in their order. */
const COLUMNS: readonly (readonly [header: string, value: Sql])[] = [
  ['Group Name', cell('group_name')],
  ['Project Name', cell('project_name')],
  ['Tool', cell('report_type')],
  ['Scanner Name', cell('scanner_name')],
  ['Status', word('state')],
  ['Vulnerability', cell('name')],
  ['Details', cell('description')],
  ['Additional Info', sql`null`],
  ['Severity', word('severity')],
  ['CVE', cell('cve')],
  ['CWE', cell('cwe')],
  ['Other Identifiers', cell('other')],
  ['Detected At', word('detected_at')],
  ['Location', cell('location')],
  ['Activity', sql`(r.gone_at is not null)::text`],
  ['Comments', cell('comments')],
  ['Full Path', cell('full_path')],
  ['CVSS Vectors', cell('cvss_vectors')],
  // `false_positive` as people read it: `False positive`.
  [
    'Dismissal Reason',
    sql`upper(left(r.dismissal_reason, 1)) || replace(substr(r.dismissal_reason, 2), '_', ' ')`,
  ],
]

const named = (type: Sql): Sql => sql`string_agg(i.name, '; ') filter (where ${type})`

/** The vulnerabilities of projects as the published rows. `offset 0` keeps each cell from being computed twice. */
export const exportedRows = (projectIds: readonly number[]): RawBuilder<unknown> => sql`
  select ${sql.join(COLUMNS.map(([header, value]) => sql`${value} as ${sql.ref(header)}`))}
    from (
      select case when n.kind = 'group' then n.name end as group_name, p.name as project_name, p.full_path,
             v.report_type, v.scanner_name, v.state, v.name, v.description, v.severity, v.gone_at, v.dismissal_reason,
             to_char(v.created_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as detected_at,
             v.location::text as location, array_to_string(v.cvss_vectors, '; ') as cvss_vectors, i.*,
             (select string_agg(t.comment, '; ' order by t.id) from vulnerability_transitions t
               where t.vulnerability_id = v.id and t.comment <> '') as comments
        from vulnerabilities v
        join projects p on p.id = v.project_id
        join namespaces n on n.id = p.namespace_id
       cross join lateral (
         select ${named(sql`i.type = 'cve'`)} as cve, ${named(sql`i.type = 'cwe'`)} as cwe,
                ${named(sql`i.type not in ('cve', 'cwe')`)} as other
           from jsonb_to_recordset(v.identifiers) as i (type text, name text)) i
       where v.project_id = any(array[${sql.join(projectIds.map((id) => sql.lit(id)))}]::bigint[])
       order by v.project_id, v.id
      offset 0) r`
