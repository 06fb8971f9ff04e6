import { sql, type RawBuilder } from 'kysely'
import type { Db } from '../../db/db.ts'
import type { Job, JobStatus } from '../../db/schema/ci.ts'
import { q, statement, statements, type Slots } from '../../db/statement.ts'
import type { ProcessedJob } from '../processing.ts'

const byId = statement((p: Slots<{ project_id: number; id: number }>) =>
  q.selectFrom('ci_jobs').selectAll().where('project_id', '=', p.project_id).where('id', '=', p.id),
)
export const findJob = (db: Db, projectId: number, id: number): Promise<Job | undefined> =>
  db.one(byId, { project_id: projectId, id })

const latest = statement(
  (p: Slots<{ pipeline_id: number }>) => sql<ProcessedJob>`
    select j.id, j.name, j.stage_index, j.status, j.allow_failure, s.run_when, s.scheduling_type, s.needs,
           j.resource_group_id is not null as has_resource_group
      from ci_jobs j join ci_job_specs s on s.id = j.spec_id
     where j.pipeline_id = ${p.pipeline_id} and not j.retried order by j.id`,
)
/** The jobs of a pipeline that were not retried, as processing sees them. */
export const latestJobs = (db: Db, pipelineId: number): Promise<ProcessedJob[]> =>
  db.rows(latest, { pipeline_id: pipelineId })

/** A job after a change of state. */
export type Entered = Pick<
  Job,
  | 'id'
  | 'pipeline_id'
  | 'resource_group_id'
  | 'environment_id'
  | 'status'
  | 'allow_failure'
  | 'kind'
  | 'failure_reason'
>

interface Entry {
  readonly ids: readonly number[]
  readonly from: readonly JobStatus[]
  readonly reason: string | null
  readonly exit_code: number | null
}

const SETS: Readonly<Partial<Record<JobStatus, RawBuilder<unknown>>>> = {
  // Revived, it begins anew.
  created: sql`, queued_at = null, scheduled_at = null, started_at = null, finished_at = null, failure_reason = null`,
  scheduled: sql`, scheduled_at = clock_timestamp() + make_interval(secs => s.start_in)`,
  // One that returns to the queue has waited since it came there first.
  pending: sql`, queued_at = case when j.status = 'running' then j.queued_at else clock_timestamp() end,
                 scheduled_at = null`,
  // A bridge runs again with its downstream pipeline.
  running: sql`, finished_at = null, failure_reason = null`,
  success: sql`, finished_at = clock_timestamp()`,
  canceled: sql`, finished_at = clock_timestamp()`,
}

const enter = statements<{ to: JobStatus }, Entry, Entered>((p, { to }) => {
  const sets =
    to === 'failed'
      ? sql`, finished_at = clock_timestamp(), failure_reason = ${p.reason}::text, exit_code = ${p.exit_code},
            allow_failure = j.allow_failure or coalesce(${p.exit_code} = any(s.allow_failure_exit_codes), false)`
      : (SETS[to] ?? sql``)
  return sql<Entered>`
    update ci_jobs j set status = ${sql.lit(to)}, updated_at = clock_timestamp() ${sets}
      from ci_job_specs s
     where s.id = j.spec_id and j.id = any(${p.ids}::bigint[]) and j.status = any(${p.from}::text[])
       ${to === 'created' ? sql`and j.downstream_id is null` : sql``}
    returning j.id, j.pipeline_id, j.resource_group_id, j.environment_id, j.status, j.allow_failure, j.kind, j.failure_reason`
})

/** Jobs that are in one of the states `from` enter `to`; the others stay as they are. */
export const enterState = (db: Db, to: JobStatus, entry: Entry): Promise<Entered[]> =>
  db.rows(enter({ to }), entry)

const members = statement(
  (p: Slots<{ ids: readonly number[] }>) => sql<{
    pipeline_id: number
    status: JobStatus
    allow_failure: boolean
  }>`
    select distinct pipeline_id, status, allow_failure from ci_jobs
     where pipeline_id = any(${p.ids}::bigint[]) and not retried
    union
    select pipeline_id, status, allow_failure from commit_statuses
     where pipeline_id = any(${p.ids}::bigint[]) and not retried`,
)
/** Each state that the pipelines' jobs and external statuses are in, once. */
export const pipelineMembers = (
  db: Db,
  ids: readonly number[],
): Promise<{ pipeline_id: number; status: JobStatus; allow_failure: boolean }[]> => db.rows(members, { ids })
