import { sql, type RawBuilder } from 'kysely'
import type { Db } from '../../db/client.ts'
import { paged, pageStatements, type Listed } from '../../db/pages.ts'
import type { Pipeline } from '../../db/schema_repositories.ts'
import { statement, type Slots } from '../../db/statement.ts'
import { pipelineDetailOf, type PipelineWithUser } from '../../records/pipeline_detail.ts'

export interface ListShape {
  readonly by: 'id' | 'status' | 'ref' | 'updated_at' | 'user_id'
  readonly desc: boolean
  readonly scope: 'running' | 'pending' | 'finished' | 'branches' | 'tags' | null
  readonly status: boolean
  readonly ref: boolean
  readonly sha: boolean
  readonly source: boolean
}
interface ListValues {
  readonly project_id: number
  readonly status: string
  readonly ref: string
  readonly sha: string
  readonly source: string
  readonly limit: number
  readonly offset: number
}

const SCOPES: Readonly<Record<NonNullable<ListShape['scope']>, RawBuilder<unknown>>> = {
  running: sql`p.status = 'running'`,
  pending: sql`p.status = 'pending'`,
  finished: sql`p.status in ('success', 'failed', 'canceled')`,
  branches: sql`not p.tag`,
  tags: sql`p.tag`,
}

const listStatement = pageStatements<ListShape, ListValues, Pipeline>((p, shape) => {
  const where = (holds: boolean, text: RawBuilder<unknown>): RawBuilder<unknown> =>
    holds ? sql` and ${text}` : sql``
  // Child pipelines stand under their parents; they are listed where their source is asked for.
  const matches = sql`
    from pipelines p where p.project_id = ${p.project_id}
    ${where(shape.scope !== null, shape.scope === null ? sql`true` : SCOPES[shape.scope])}
    ${where(shape.status, sql`p.status = ${p.status}`)} ${where(shape.ref, sql`p.ref = ${p.ref}`)}
    ${where(shape.sha, sql`p.sha = ${p.sha}`)}
    ${shape.source ? sql`and p.source = ${p.source}` : sql`and p.parent_id is null`}`
  const direction = shape.desc ? sql`desc` : sql`asc`
  return paged(
    sql<Pipeline>`
      select p.* ${matches} order by p.${sql.ref(shape.by)} ${direction}, p.id ${direction}
       limit ${p.limit} offset ${p.offset}`,
    sql`select ${matches}`,
  )
})
export const list = (db: Db, shape: ListShape, values: ListValues): Promise<Listed<Pipeline>> =>
  db.page(listStatement(shape), values)

const findStatement = statement((p: Slots<{ project_id: number; id: number }>) =>
  pipelineDetailOf(sql`select * from pipelines where project_id = ${p.project_id} and id = ${p.id}`),
)
export const find = (db: Db, projectId: number, id: number): Promise<PipelineWithUser | undefined> =>
  db.one(findStatement, { project_id: projectId, id })
