import { sql } from 'kysely'
import type { Db } from '../db/db.ts'
import type { Severity, Vulnerability, VulnerabilityState } from '../db/schema/vulnerabilities.ts'
import { statement, type Slots } from '../db/statement.ts'

export const STATES: readonly VulnerabilityState[] = ['detected', 'confirmed', 'dismissed', 'resolved']
export const SEVERITIES: readonly Severity[] = ['critical', 'high', 'medium', 'low', 'info', 'unknown']
/** The published reasons to dismiss. */
export const DISMISSAL_REASONS = [
  ...([
    'acceptable_risk',
    'false_positive',
    'mitigating_control',
    'used_in_tests',
    'not_applicable',
  ] as const),
]

export interface Transition {
  readonly id: number
  readonly to_state: VulnerabilityState
  readonly author_id: number
  /** Of a dismissal; null otherwise. */
  readonly dismissal_reason: string | null
  readonly comment: string
}

const change = statement(
  (p: Slots<Transition>) => sql<{ from_state: VulnerabilityState }>`
    with before as (
      select id, state from vulnerabilities where id = ${p.id} and state <> ${p.to_state} for update),
    changed as (
      update vulnerabilities v
         set state = ${p.to_state}, dismissal_reason = ${p.dismissal_reason}, updated_at = now()
        from before b where v.id = b.id),
    noted as (
      insert into vulnerability_transitions
        (vulnerability_id, author_id, from_state, to_state, dismissal_reason, comment)
      select id, ${p.author_id}, state, ${p.to_state}, ${p.dismissal_reason}, ${p.comment} from before)
    select state as from_state from before`,
)

/** Changes the state and notes who did; false where there is no such vulnerability in another state. */
export const changeState = async (db: Db, transition: Transition): Promise<boolean> =>
  (await db.rows(change, transition)).length > 0

export type Shown = Pick<
  Vulnerability,
  | 'id'
  | 'report_type'
  | 'scanner_name'
  | 'name'
  | 'description'
  | 'solution'
  | 'severity'
  | 'state'
  | 'dismissal_reason'
  | 'identifiers'
  | 'location'
  | 'cvss_vectors'
  | 'gone_at'
  | 'created_at'
  | 'updated_at'
> & { readonly project: string }

const columns = sql`
  v.id, p.full_path as project, v.report_type, v.scanner_name, v.name, v.description, v.solution, v.severity, v.state,
  v.dismissal_reason, v.identifiers, v.location, v.cvss_vectors, v.gone_at, v.created_at, v.updated_at`

const findStatement = statement(
  (p: Slots<{ id: number }>) => sql<Shown>`
    select ${columns} from vulnerabilities v join projects p on p.id = v.project_id where v.id = ${p.id}`,
)
export const find = (db: Db, id: number): Promise<Shown | undefined> => db.one(findStatement, { id })

export interface Filter {
  readonly project_id: number
  readonly state: string | null
  readonly severity: string | null
  readonly limit: number
}
const listStatement = statement(
  (p: Slots<Filter>) => sql<Shown>`
    select ${columns} from vulnerabilities v join projects p on p.id = v.project_id
     where v.project_id = ${p.project_id} and v.state = coalesce(${p.state}::text, v.state)
       and v.severity = coalesce(${p.severity}::text, v.severity)
     order by v.id limit ${p.limit}`,
)
export const list = (db: Db, filter: Filter): Promise<Shown[]> => db.rows(listStatement, filter)

export interface ShownTransition {
  readonly from_state: VulnerabilityState
  readonly to_state: VulnerabilityState
  readonly author: string | null
  readonly dismissal_reason: string | null
  readonly comment: string
  readonly created_at: Date
}
const transitionsStatement = statement(
  (p: Slots<{ id: number }>) => sql<ShownTransition>`
    select t.from_state, t.to_state, u.username as author, t.dismissal_reason, t.comment, t.created_at
      from vulnerability_transitions t left join users u on u.id = t.author_id
     where t.vulnerability_id = ${p.id} order by t.id`,
)
/** The changes of state, the first one first. */
export const transitionsOf = (db: Db, id: number): Promise<ShownTransition[]> =>
  db.rows(transitionsStatement, { id })
