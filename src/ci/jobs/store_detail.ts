import { sql } from 'kysely'
import type { Db } from '../../db/db.ts'
import type { Project, User } from '../../db/schema/tables.ts'
import type { Job, JobArtifact, JobSpec } from '../../db/schema/ci.ts'
import type { Environment } from '../../db/schema/delivery.ts'
import type { Pipeline } from '../../db/schema/repositories.ts'
import { q, statement, type Slots } from '../../db/statement.ts'

/** Everything a job is run with. */
export interface JobDetail {
  readonly job: Job
  readonly spec: JobSpec
  readonly pipeline: Pipeline
  readonly project: Project
  readonly user: User | undefined
  readonly environment: Environment | undefined
}

const spec = statement((p: Slots<{ id: number }>) =>
  q.selectFrom('ci_job_specs').selectAll().where('id', '=', p.id),
)
const pipeline = statement((p: Slots<{ id: number }>) =>
  q.selectFrom('pipelines').selectAll().where('id', '=', p.id),
)
const project = statement((p: Slots<{ id: number }>) =>
  q.selectFrom('projects').selectAll().where('id', '=', p.id),
)
const environment = statement((p: Slots<{ id: number }>) =>
  q.selectFrom('environments').selectAll().where('id', '=', p.id),
)
const user = statement((p: Slots<{ id: number }>) => q.selectFrom('users').selectAll().where('id', '=', p.id))

/** Undefined where the job went away. */
export async function jobDetail(db: Db, job: Job): Promise<JobDetail | undefined> {
  const [specRow, pipelineRow, projectRow, userRow, environmentRow] = await Promise.all([
    db.one(spec, { id: job.spec_id }),
    db.one(pipeline, { id: job.pipeline_id }),
    db.one(project, { id: job.project_id }),
    job.user_id === null ? undefined : db.one(user, { id: job.user_id }),
    job.environment_id === null ? undefined : db.one(environment, { id: job.environment_id }),
  ])
  if (specRow === undefined || pipelineRow === undefined || projectRow === undefined) return undefined
  const rows = { spec: specRow, pipeline: pipelineRow, project: projectRow, user: userRow }
  return { job, ...rows, environment: environmentRow }
}

/** A job whose artifacts another one downloads, and whose dotenv variables it is given. */
export interface Dependency extends Pick<
  Job,
  'id' | 'name' | 'artifacts_expire_at' | 'erased_at' | 'dotenv'
> {
  readonly archive: Pick<JobArtifact, 'filename' | 'size'> | null
  readonly has_artifacts_configured: boolean
}

const dependencies = statement(
  (
    p: Slots<{
      pipeline_id: number
      stage_index: number
      names: readonly string[] | null
    }>,
  ) => sql<Dependency>`
    select j.id, j.name, j.artifacts_expire_at, j.erased_at, j.dotenv,
           s.options->'artifacts'->'paths' is not null as has_artifacts_configured,
           (select json_build_object('filename', a.filename, 'size', a.size) from ci_job_artifacts a
             where a.job_id = j.id and a.file_type = 'archive'
               and (a.expire_at is null or a.expire_at > now())) as archive
      from ci_jobs j join ci_job_specs s on s.id = j.spec_id
     where j.pipeline_id = ${p.pipeline_id} and not j.retried and j.kind = 'build'
       and j.status in ('success', 'failed', 'canceled')
       and case when ${p.names}::text[] is null then j.stage_index < ${p.stage_index}
                else j.name = any(${p.names}::text[]) end
     order by j.id`,
)
/**
 * The finished jobs whose artifacts a job is configured to download: of its needs, of its `dependencies`, or of all earlier
 * stages.
 */
export async function dependenciesOf(db: Db, { job, spec: own }: JobDetail): Promise<Dependency[]> {
  const needed = own.needs.filter((name) => !own.needs_without_artifacts.includes(name))
  const all = own.scheduling_type === 'dag' ? needed : null
  const names =
    own.dependencies === null
      ? all
      : (all ?? own.dependencies).filter((name) => own.dependencies?.includes(name))
  return db.rows(dependencies, {
    pipeline_id: job.pipeline_id,
    stage_index: job.stage_index,
    names,
  })
}
