import { sql } from 'kysely'
import type { Db } from '../db/db.ts'
import { statement, type Slots } from '../db/statement.ts'
import type { Scanner } from './finding.ts'
import type { ReadFinding } from './reading.ts'

// Statements that bring the vulnerabilities of a project in line with what reports name.

const SEEN = `create temp table seen_findings (
  report_type text, scanner text, fingerprint bytea, primary key (report_type, scanner, fingerprint)) on commit drop`

/** Imports of one project run one after the other. */
const lock = statement(
  (p: Slots<{ project_id: number }>) =>
    sql`select pg_advisory_xact_lock(7163021, hashint8(${p.project_id}::bigint))`,
)
/** Counts of stored findings by result. */
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
const goneStatement = statement(
  (p: Slots<{ project_id: number; scanners: string }>) => sql`
    update vulnerabilities v set gone_at = now(), updated_at = now()
      from jsonb_to_recordset(${p.scanners}::jsonb) as s (report_type text, scanner text)
     where v.project_id = ${p.project_id} and v.report_type = s.report_type and v.scanner = s.scanner
       and v.gone_at is null
       and not exists (
         select from seen_findings f
          where f.report_type = v.report_type and f.scanner = v.scanner and f.fingerprint = v.fingerprint)`,
)

/** Call first, once a transaction. Imports of one project run one after the other. */
export async function beginImport(tx: Db, project_id: number): Promise<void> {
  await tx.script(SEEN)
  await tx.run(lock, { project_id })
}

/** Stores findings; those that were seen in this transaction before do not count as given. */
export async function storeFindings(
  tx: Db,
  project_id: number,
  findings: readonly ReadFinding[],
): Promise<Stored> {
  const [stored] = await tx.rows(store, {
    project_id,
    findings: `[${findings.map(({ json }) => json).join()}]`,
  })
  if (stored === undefined) throw new Error('findings were not stored')
  return stored
}

/** Marks the findings of these scanners as gone that were not seen in this transaction; how many. */
export const markGone = (tx: Db, project_id: number, scanners: readonly Scanner[]): Promise<number> =>
  tx.run(goneStatement, { project_id, scanners: JSON.stringify(scanners) })
