import { sql, type RawBuilder } from 'kysely'
import type { Db } from '../../db/db.ts'
import { paged, pageStatements, type Listed } from '../../db/pages.ts'
import type { Pipeline } from '../../db/schema/repositories.ts'
import { statement, type Slots } from '../../db/statement.ts'
import { pipelineDetailOf, type PipelineWithUser } from '../../records/jobs/pipeline_detail.ts'
import { CONDITIONS, type FilterName, type Filters } from './filters.ts'

export interface ListShape {
  readonly by: 'id' | 'status' | 'ref' | 'updated_at' | 'user_id'
  readonly desc: boolean
  readonly filters: readonly FilterName[]
}
interface ListValues extends Partial<Filters> {
  readonly project_id: number
  readonly limit: number
  readonly offset: number
}
type Named = ListValues & Filters

const listStatement = pageStatements<ListShape, Named, Pipeline>((p, { by, desc, filters }) => {
  const conditions = filters.map((name): RawBuilder<unknown> => sql`and ${CONDITIONS[name](p)}`)
  // Child pipelines stand under their parents; they are listed where their source is asked for.
  if (!filters.includes('source')) conditions.push(sql`and p.parent_id is null`)
  const matches = sql`from pipelines p where p.project_id = ${p.project_id} ${sql.join(conditions, sql` `)}`
  const direction = desc ? sql`desc` : sql`asc`
  return paged(
    sql<Pipeline>`
      select p.* ${matches} order by p.${sql.ref(by)} ${direction}, p.id ${direction}
       limit ${p.limit} offset ${p.offset}`,
    sql`select ${matches}`,
  )
})
/** The filters of the shape have values. */
export const list = (db: Db, shape: ListShape, values: ListValues): Promise<Listed<Pipeline>> =>
  db.page(listStatement(shape), values as Named)

const findStatement = statement((p: Slots<{ project_id: number; id: number }>) =>
  pipelineDetailOf(sql`select * from pipelines where project_id = ${p.project_id} and id = ${p.id}`),
)
export const find = (db: Db, projectId: number, id: number): Promise<PipelineWithUser | undefined> =>
  db.one(findStatement, { project_id: projectId, id })

const latestStatement = statement((p: Slots<{ project_id: number; ref: string; sha: string }>) =>
  pipelineDetailOf(sql`
    select * from pipelines
     where project_id = ${p.project_id} and ref = ${p.ref} and sha = ${p.sha} and parent_id is null
     order by id desc limit 1`),
)
/** The newest pipeline of a branch or tag at a commit. */
export const findLatest = (
  db: Db,
  at: { readonly project_id: number; readonly ref: string; readonly sha: string },
): Promise<PipelineWithUser | undefined> => db.one(latestStatement, at)

const renameStatement = statement(
  (p: Slots<{ id: number; name: string }>) =>
    sql`update pipelines set name = ${p.name}, updated_at = now() where id = ${p.id}`,
)
export const rename = (db: Db, id: number, name: string): Promise<number> =>
  db.run(renameStatement, { id, name })
