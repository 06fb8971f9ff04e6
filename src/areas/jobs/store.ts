import { sql } from 'kysely'
import type { Db } from '../../db/db.ts'
import { paged, pageStatements, type Listed } from '../../db/pages.ts'
import type { Job } from '../../db/schema/ci.ts'
import { statement, type Slots } from '../../db/statement.ts'

export interface ListShape {
  readonly of: 'project' | 'pipeline'
  readonly kind: Job['kind']
  /** Jobs of certain states only. */
  readonly scoped: boolean
  readonly retried: boolean
}
export interface ListValues {
  /** Of the project or pipeline. */
  readonly id: number
  readonly scope: readonly string[]
  /** Jobs with smaller ids only; null for all. */
  readonly before: number | null
  readonly limit: number
  readonly offset: number
}

const listStatement = pageStatements<ListShape, ListValues, Job>((p, { of, kind, scoped, retried }) => {
  const matches = sql`
    from ci_jobs j
   where ${of === 'project' ? sql`j.project_id` : sql`j.pipeline_id`} = ${p.id} and j.kind = ${sql.lit(kind)}
     and (${p.before}::bigint is null or j.id < ${p.before})
     ${scoped ? sql`and j.status = any(${p.scope}::text[])` : sql``} ${retried ? sql`` : sql`and not j.retried`}`
  const rows = sql<Job>`select j.* ${matches} order by j.id desc limit ${p.limit} offset ${p.offset}`
  // The jobs of a project are not counted, as published.
  return paged(rows, of === 'project' ? undefined : sql`select ${matches}`)
})
/** The newest jobs first. */
export const list = (db: Db, shape: ListShape, values: ListValues): Promise<Listed<Job>> =>
  db.page(listStatement(shape), values)

/** A job with the ref that it runs on. */
export type JobOnRef = Job & { readonly ref: string; readonly tag: boolean }

const findStatement = statement(
  (p: Slots<{ project_id: number; id: number }>) => sql<JobOnRef>`
    select j.*, p.ref, p.tag from ci_jobs j join pipelines p on p.id = j.pipeline_id
     where j.project_id = ${p.project_id} and j.id = ${p.id}`,
)
/** A job or trigger job. */
export const findAny = (db: Db, projectId: number, id: number): Promise<JobOnRef | undefined> =>
  db.one(findStatement, { project_id: projectId, id })

/** A job that runners run. */
export async function find(db: Db, projectId: number, id: number): Promise<JobOnRef | undefined> {
  const found = await findAny(db, projectId, id)
  return found?.kind === 'build' ? found : undefined
}

const runningStatement = statement(
  (p: Slots<{ id: number }>) => sql<Job & { readonly full_path: string; readonly archived: boolean }>`
    select j.*, p.full_path, p.archived from ci_jobs j join projects p on p.id = j.project_id
     where j.id = ${p.id}`,
)
/** A job with its project's path. */
export const findWithProject = (
  db: Db,
  id: number,
): Promise<(Job & { readonly full_path: string; readonly archived: boolean }) | undefined> =>
  db.one(runningStatement, { id })

const setErased = statement(
  (p: Slots<{ id: number }>) => sql<Job>`
    with gone as (delete from ci_job_artifacts where job_id = ${p.id})
    update ci_jobs set erased_at = now(), updated_at = now(), artifacts_expire_at = null, trace_size = 0,
                       dotenv = null
     where id = ${p.id} and erased_at is null and status in ('success', 'failed', 'canceled')
    returning *`,
)
/** Removes the artifacts of a finished job and notes that it is erased; undefined where it cannot be. */
export const erase = (db: Db, id: number): Promise<Job | undefined> => db.one(setErased, { id })

interface Given {
  readonly variables: readonly { readonly key: string; readonly value: string }[]
  /** Sealed. */
  readonly pipeline_variables: Buffer | null
}
const givenStatement = statement(
  (p: Slots<{ id: number }>) => sql<Given>`
    select s.variables, p.variables as pipeline_variables
      from ci_jobs j join ci_job_specs s on s.id = j.spec_id join pipelines p on p.id = j.pipeline_id
     where j.id = ${p.id}`,
)
/** The variables that the configuration and the pipeline give a job. */
export const variablesOf = async (db: Db, id: number): Promise<Given> =>
  (await db.one(givenStatement, { id })) ?? { variables: [], pipeline_variables: null }
