import { sql } from 'kysely'
import type { Db } from '../db/client.ts'
import { statement, type Slots } from '../db/statement.ts'
import type { Finding, Scanner } from './finding.ts'
import { openReport, type FormatName } from './reading.ts'

/** Findings that one statement stores. */
const BATCH = 500
/** Bad entries that are named; all are counted. */
const MAX_NAMED = 50

export interface ImportCounts {
  readonly created: number
  /** Named by the report again, with other fields. */
  readonly updated: number
  /** Were gone, and are named again. */
  readonly reappeared: number
  readonly unchanged: number
  /** No longer named. */
  readonly gone: number
  /** Named more than once in the report. */
  readonly duplicates: number
  readonly invalid: number
  readonly faults: readonly string[]
}

/** Entries of the report are bad, and it was not asked to skip them: nothing was changed. */
export class InvalidEntries extends Error {
  readonly faults: readonly string[]
  constructor(count: number, faults: readonly string[]) {
    super(`${count} ${count === 1 ? 'entry is' : 'entries are'} invalid`)
    this.faults = faults
  }
}

export interface ReportImport {
  readonly projectId: number
  readonly format: FormatName
  /** Opens the report; called twice. */
  readonly open: () => AsyncIterable<Uint8Array>
  readonly skipInvalid: boolean
}

const SEEN = `create temp table seen_findings (
  report_type text, scanner text, fingerprint bytea, primary key (report_type, scanner, fingerprint)) on commit drop`

/** Imports of one project run one after the other. */
const lock = statement(
  (p: Slots<{ project_id: number }>) =>
    sql`select pg_advisory_xact_lock(7163021, hashint8(${p.project_id}::bigint))`,
)
interface Stored {
  readonly given: number
  readonly created: number
  readonly updated: number
  readonly reappeared: number
}
const store = statement(
  (p: Slots<{ project_id: number; findings: string }>) => sql<Stored>`
    with given as materialized (
      select g.*, decode(g.fingerprint_hex, 'hex') as fingerprint
        from jsonb_to_recordset(${p.findings}::jsonb) as g (
          report_type text, scanner text, scanner_name text, fingerprint_hex text, name text, description text,
          solution text, severity text, identifiers jsonb, location jsonb, cvss_vectors text[])),
    seen as (
      insert into seen_findings select report_type, scanner, fingerprint from given on conflict do nothing
      returning report_type, scanner, fingerprint),
    fresh as (select g.* from given g join seen using (report_type, scanner, fingerprint)),
    returning_ones as (
      select v.id, v.state from fresh f
        join vulnerabilities v using (report_type, scanner, fingerprint)
       where v.project_id = ${p.project_id} and v.gone_at is not null),
    reopened as (
      insert into vulnerability_transitions (vulnerability_id, from_state, to_state)
      select id, state, 'detected' from returning_ones where state = 'resolved'),
    written as (
      insert into vulnerabilities as v
        (project_id, report_type, scanner, scanner_name, fingerprint, name, description, solution, severity,
         identifiers, location, cvss_vectors)
      select ${p.project_id}, report_type, scanner, scanner_name, fingerprint, name, description, solution, severity,
             identifiers, location, cvss_vectors
        from fresh
          on conflict on constraint vulnerabilities_fingerprint_key do update
         set scanner_name = excluded.scanner_name, name = excluded.name, description = excluded.description,
             solution = excluded.solution, severity = excluded.severity, identifiers = excluded.identifiers,
             location = excluded.location, cvss_vectors = excluded.cvss_vectors, gone_at = null, updated_at = now(),
             state = case when v.gone_at is not null and v.state = 'resolved' then 'detected' else v.state end
       where v.gone_at is not null
          or (v.scanner_name, v.name, v.description, v.solution, v.severity, v.identifiers, v.location, v.cvss_vectors)
             is distinct from (excluded.scanner_name, excluded.name, excluded.description, excluded.solution,
                               excluded.severity, excluded.identifiers, excluded.location, excluded.cvss_vectors)
      returning id, xmax = 0 as is_new)
    select (select count(*) from fresh) as given,
           count(*) filter (where w.is_new) as created,
           count(*) filter (where not w.is_new and r.id is null) as updated,
           count(*) filter (where r.id is not null) as reappeared
      from written w left join returning_ones r on r.id = w.id`,
)
const markGone = statement(
  (p: Slots<{ project_id: number; scanners: string }>) => sql`
    update vulnerabilities v set gone_at = now(), updated_at = now()
      from jsonb_to_recordset(${p.scanners}::jsonb) as s (report_type text, scanner text)
     where v.project_id = ${p.project_id} and v.report_type = s.report_type and v.scanner = s.scanner
       and v.gone_at is null
       and not exists (
         select from seen_findings f
          where f.report_type = v.report_type and f.scanner = v.scanner and f.fingerprint = v.fingerprint)`,
)

/**
 * Brings a project's vulnerabilities in line with a report, all or nothing: creates new findings, and marks findings of
 * the same scanner that it no longer names as gone. Throws BadReport, NotJson, InvalidEntries.
 */
export async function importReport(db: Db, given: ReportImport): Promise<ImportCounts> {
  const { projectId: project_id, format, open, skipInvalid } = given
  const report = await openReport(format, open)
  return db.transaction(async (tx) => {
    await tx.script(SEEN)
    await tx.run(lock, { project_id })
    const counts = { created: 0, updated: 0, reappeared: 0, unchanged: 0, duplicates: 0, invalid: 0 }
    const faults: string[] = []
    let batch = new Map<string, Finding>()
    const flush = async (): Promise<void> => {
      if (batch.size === 0) return
      const findings = JSON.stringify([...batch.values()].map(rowOf))
      const [stored] = await tx.rows(store, { project_id, findings })
      if (stored === undefined) throw new Error('findings were not stored')
      const { created, updated, reappeared } = stored
      counts.created += created
      counts.updated += updated
      counts.reappeared += reappeared
      counts.unchanged += stored.given - created - updated - reappeared
      counts.duplicates += batch.size - stored.given
      batch = new Map()
    }
    for await (const entry of report.entries()) {
      if (entry.fault !== undefined) {
        counts.invalid += 1
        if (faults.length < MAX_NAMED) faults.push(`${entry.name}: ${entry.fault}`)
      }
      for (const finding of entry.findings) {
        const key = keyOf(finding)
        if (batch.has(key)) counts.duplicates += 1
        else batch.set(key, finding)
      }
      if (batch.size >= BATCH) await flush()
    }
    await flush()
    if (counts.invalid > 0 && !skipInvalid) throw new InvalidEntries(counts.invalid, faults)
    const gone = await tx.run(markGone, { project_id, scanners: JSON.stringify(report.scanners) })
    return { ...counts, gone, faults }
  })
}

const keyOf = ({ report_type, scanner, fingerprint }: Scanner & Finding): string =>
  `${report_type} ${scanner} ${fingerprint}`
const rowOf = ({ fingerprint, ...finding }: Finding): object => ({ ...finding, fingerprint_hex: fingerprint })
