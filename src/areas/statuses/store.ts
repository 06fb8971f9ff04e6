import { sql, type RawBuilder } from 'kysely'
import { authorJson } from '../../records/people/user.ts'
import type { Db } from '../../db/db.ts'
import type { Pipeline } from '../../db/schema/repositories.ts'
import { paged, pageStatements, type Listed } from '../../db/pages.ts'
import { q, statement, type Slots } from '../../db/statement.ts'
import type { StatusWithAuthor } from './entity.ts'
import type { State } from './rules.ts'

interface ListShape {
  readonly by: 'id' | 'pipeline_id'
  readonly desc: boolean
  /** Earlier words about the same name too. */
  readonly all: boolean
  readonly named: boolean
  readonly onRef: boolean
  readonly inPipeline: boolean
}
interface ListValues {
  readonly project_id: number
  readonly sha: string
  readonly name: string
  readonly ref: string
  readonly pipeline_id: number
  readonly limit: number
  readonly offset: number
}

const list = pageStatements<ListShape, ListValues, StatusWithAuthor>((p, shape) => {
  const where = (holds: boolean, text: RawBuilder<unknown>): RawBuilder<unknown> =>
    holds ? sql` and ${text}` : sql``
  const matches = sql`
    select s.* from commit_statuses s where s.project_id = ${p.project_id} and s.sha = ${p.sha}
    ${where(!shape.all, sql`not s.retried`)} ${where(shape.named, sql`s.name = ${p.name}`)}
    ${where(shape.onRef, sql`s.ref = ${p.ref}`)} ${where(shape.inPipeline, sql`s.pipeline_id = ${p.pipeline_id}`)}`
  const order = sql`s.${sql.ref(shape.by)} ${shape.desc ? sql`desc` : sql`asc`}, s.id ${shape.desc ? sql`desc` : sql`asc`}`
  return paged(
    sql<StatusWithAuthor>`
      select s.*, ${authorJson(sql`s.author_id`)} as author
        from (${matches} order by ${order} limit ${p.limit} offset ${p.offset}) s order by ${order}`,
    matches,
  )
})

export const listStatuses = (
  db: Db,
  shape: ListShape,
  values: ListValues,
): Promise<Listed<StatusWithAuthor>> => db.page(list(shape), values)

const pipelineById = statement((p: Slots<{ project_id: number; sha: string; id: number }>) =>
  q
    .selectFrom('pipelines')
    .selectAll()
    .where('project_id', '=', p.project_id)
    .where('sha', '=', p.sha)
    .where('id', '=', p.id),
)
const pipelineByRef = statement((p: Slots<{ project_id: number; sha: string; ref: string }>) =>
  q
    .selectFrom('pipelines')
    .selectAll()
    .where('project_id', '=', p.project_id)
    .where('sha', '=', p.sha)
    .where('ref', '=', p.ref)
    .orderBy('id', 'desc')
    .limit(1),
)
export const findPipeline = (
  db: Db,
  { project_id, sha }: { project_id: number; sha: string },
  by: { id: number } | { ref: string },
): Promise<Pipeline | undefined> =>
  'id' in by
    ? db.one(pipelineById, { project_id, sha, id: by.id })
    : db.one(pipelineByRef, { project_id, sha, ref: by.ref })

interface Place {
  readonly pipeline_id: number
  readonly ref: string
  readonly name: string
}

const latest = statement((p: Slots<Place>) =>
  q
    .selectFrom('commit_statuses')
    .selectAll()
    .where('pipeline_id', '=', p.pipeline_id)
    .where('ref', '=', p.ref)
    .where('name', '=', p.name)
    .where('retried', '=', false),
)
export const findLatest = (db: Db, place: Place): Promise<{ id: number; status: State } | undefined> =>
  db.one(latest, place)

const retire = statement((p: Slots<{ project_id: number; id: number }>) =>
  q
    .updateTable('commit_statuses')
    .set({ retried: true })
    .where('project_id', '=', p.project_id)
    .where('id', '=', p.id),
)
export const retireStatus = (db: Db, projectId: number, id: number): Promise<number> =>
  db.run(retire, { project_id: projectId, id })

interface Said {
  readonly project_id: number
  readonly status: State
  readonly target_url: string | null
  readonly description: string | null
  readonly coverage: number | null
}

const started = (status: RawBuilder<State>): RawBuilder<Date | null> =>
  sql`case when ${status} = 'running' then now() end`
const finished = (status: RawBuilder<State>): RawBuilder<Date | null> =>
  sql`case when ${status} in ('success', 'failed', 'canceled') then now() end`

const insert = statement(
  (p: Slots<Said & Place & { sha: string; author_id: number }>) => sql<StatusWithAuthor>`
    insert into commit_statuses
      (project_id, pipeline_id, author_id, sha, ref, name, status, target_url, description, coverage, started_at, finished_at)
    values (${p.project_id}, ${p.pipeline_id}, ${p.author_id}, ${p.sha}, ${p.ref}, ${p.name}, ${p.status}::text, ${p.target_url},
            ${p.description}, ${p.coverage}, ${started(sql`${p.status}::text`)}, ${finished(sql`${p.status}::text`)})
    returning *, ${authorJson(sql`author_id`)} as author`,
)
export const insertStatus = (
  db: Db,
  status: Said & Place & { sha: string; author_id: number },
): Promise<StatusWithAuthor> => db.insert(insert, status)

const change = statement(
  (p: Slots<Said & { id: number }>) => sql<StatusWithAuthor>`
    update commit_statuses
       set status = ${p.status}::text, target_url = coalesce(${p.target_url}, target_url),
           description = coalesce(${p.description}, description), coverage = coalesce(${p.coverage}, coverage),
           started_at = coalesce(started_at, ${started(sql`${p.status}::text`)}),
           finished_at = ${finished(sql`${p.status}::text`)}, updated_at = now()
     where project_id = ${p.project_id} and id = ${p.id}
    returning *, ${authorJson(sql`author_id`)} as author`,
)
/** Absent values stay. */
export const changeStatus = (db: Db, status: Said & { id: number }): Promise<StatusWithAuthor | undefined> =>
  db.one(change, status)
