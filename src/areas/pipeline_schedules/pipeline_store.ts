import { sql, type RawBuilder } from 'kysely'
import type { Db } from '../../db/db.ts'
import { paged, pageStatements, type Listed, type Page } from '../../db/pages.ts'
import type { Pipeline } from '../../db/schema/repositories.ts'

type Scope = 'running' | 'pending' | 'finished' | 'branches' | 'tags'
interface Shape {
  readonly scope: Scope | null
  readonly desc: boolean
}
/** Null for a filter that is not given. */
interface Filters {
  readonly schedule_id: number
  readonly status: string | null
  readonly updated_before: string | null
  readonly updated_after: string | null
  readonly created_before: string | null
  readonly created_after: string | null
}

const SCOPES: Readonly<Record<Scope, RawBuilder<unknown>>> = {
  running: sql`and p.status = 'running'`,
  pending: sql`and p.status = 'pending'`,
  finished: sql`and p.status in ('success', 'failed', 'canceled')`,
  branches: sql`and not p.tag`,
  tags: sql`and p.tag`,
}

const listStatement = pageStatements<Shape, Filters & Page, Pipeline>((p, { scope, desc }) => {
  const matches = sql`
    from pipelines p where p.schedule_id = ${p.schedule_id} ${scope === null ? sql`` : SCOPES[scope]}
     and p.status = coalesce(${p.status}::text, p.status)
     and p.updated_at <= coalesce(${p.updated_before}::timestamptz, 'infinity')
     and p.updated_at >= coalesce(${p.updated_after}::timestamptz, '-infinity')
     and p.created_at <= coalesce(${p.created_before}::timestamptz, 'infinity')
     and p.created_at >= coalesce(${p.created_after}::timestamptz, '-infinity')`
  return paged(
    sql<Pipeline>`
      select p.* ${matches} order by p.id ${desc ? sql`desc` : sql`asc`} limit ${p.limit} offset ${p.offset}`,
    sql`select ${matches}`,
  )
})
export const listPipelines = (db: Db, shape: Shape, values: Filters & Page): Promise<Listed<Pipeline>> =>
  db.page(listStatement(shape), values)
