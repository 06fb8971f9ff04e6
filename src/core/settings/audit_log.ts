import { sql, type RawBuilder } from 'kysely'
import type { Db } from '../../db/db.ts'
import { paged, pageStatements, type Listed } from '../../db/pages.ts'
import { statements } from '../../db/statement.ts'

export interface AuditRow {
  readonly id: number
  readonly author_id: number | null
  readonly entity_type: string
  readonly entity_id: number
  readonly event_type: string
  readonly details: Readonly<Record<string, unknown>>
  readonly created_at: Date
}

const FILTERS = ['entity_type', 'entity_id', 'author_id', 'created_after', 'created_before'] as const
type FilterName = (typeof FILTERS)[number]

interface Values {
  readonly entity_type: string
  readonly entity_id: number
  readonly author_id: number
  readonly created_after: string
  readonly created_before: string
}
export type AuditFilter = { readonly [Name in FilterName]?: Values[Name] | undefined }
interface Page {
  readonly limit: number
  readonly offset: number
}
type P = { readonly [Name in keyof Values]: RawBuilder<Values[Name]> }

// Both ends are included, as published.
const CONDITIONS: Readonly<Record<FilterName, (p: P) => RawBuilder<unknown>>> = {
  entity_type: (p) => sql`a.entity_type = ${p.entity_type}`,
  entity_id: (p) => sql`a.entity_id = ${p.entity_id}`,
  author_id: (p) => sql`a.author_id = ${p.author_id}`,
  created_after: (p) => sql`a.created_at >= ${p.created_after}::timestamptz`,
  created_before: (p) => sql`a.created_at <= ${p.created_before}::timestamptz`,
}
const NONE: Values = { entity_type: '', entity_id: 0, author_id: 0, created_after: '', created_before: '' }
const given = (filter: AuditFilter): FilterName[] => FILTERS.filter((name) => filter[name] !== undefined)
const valuesOf = (filter: AuditFilter): Values =>
  Object.assign({}, NONE, Object.fromEntries(given(filter).map((name) => [name, filter[name]])))

interface Shape {
  readonly filters: readonly FilterName[]
}
const matching = (p: P, { filters }: Shape): RawBuilder<unknown> =>
  sql`from audit_events a where ${sql.join([sql`true`, ...filters.map((name) => CONDITIONS[name](p))], sql` and `)}`

const list = pageStatements<Shape, Values & Page, AuditRow>((p, shape) =>
  paged(
    sql<AuditRow>`select a.* ${matching(p, shape)} order by a.id desc limit ${p.limit} offset ${p.offset}`,
    sql`select ${matching(p, shape)}`,
  ),
)
/** A page of the audit log, the newest first. */
export const listAudit = (db: Db, filter: AuditFilter, { limit, offset }: Page): Promise<Listed<AuditRow>> =>
  db.page(list({ filters: given(filter) }), { ...valuesOf(filter), limit, offset })

const one = statements<Shape, Values & { id: number }, AuditRow>(
  (p, shape) => sql`select a.* ${matching(p, shape)} and a.id = ${p.id}`,
)
/** A row of the audit log that the filter lets through. */
export const findAudit = (db: Db, filter: AuditFilter, id: number): Promise<AuditRow | undefined> =>
  db.one(one({ filters: given(filter) }), { ...valuesOf(filter), id })
