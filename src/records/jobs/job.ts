import { Type as t, type Static } from 'typebox'
import type { Job as JobRow } from '../../db/schema/ci.ts'
import { nullable, timestamp } from '../../http/params/schema.ts'
import { Commit } from '../repositories/commit.ts'
import { readAround, type JobsAround, type Place, type Tools } from './job_around.ts'
import { SomeUser, presentPublicly } from '../people/person.ts'
import { Pipeline, presentPipeline } from '../pipelines/pipeline.ts'

/** A job as other records and lists of upcoming jobs tell of it. */
export const JobBasic = t.Object({
  id: t.Integer(),
  status: t.String(),
  stage: t.String(),
  name: t.String(),
  ref: t.String(),
  tag: t.Boolean(),
  coverage: nullable(t.Number()),
  allow_failure: t.Boolean(),
  created_at: timestamp(),
  started_at: nullable(timestamp()),
  finished_at: nullable(timestamp()),
  erased_at: nullable(timestamp()),
  duration: nullable(t.Number({ description: 'Seconds' })),
  queued_duration: nullable(t.Number({ description: 'Seconds' })),
  user: nullable(SomeUser),
  commit: nullable(Commit),
  pipeline: Pipeline,
  failure_reason: t.Optional(t.String()),
  web_url: t.String(),
  project: t.Object({ ci_job_token_scope_enabled: t.Boolean() }),
})

/** The clocks of the server and of the database differ by some milliseconds, and no span is negative. */
const seconds = (from: Date | null, to: Date | null): number | null =>
  from === null || to === null ? null : Math.max(0, to.getTime() - from.getTime()) / 1_000

export function presentJobBasic(
  job: JobRow,
  project: Place,
  around: JobsAround,
  tools: Tools,
): Static<typeof JobBasic> {
  const pipeline = around.pipelines.get(job.pipeline_id)
  if (pipeline === undefined) throw new Error('a job has no pipeline')
  const user = job.user_id === null ? undefined : around.users.get(job.user_id)
  const isOver = job.finished_at !== null
  return {
    id: job.id,
    status: job.status,
    stage: job.stage,
    name: job.name,
    ref: pipeline.ref,
    tag: pipeline.tag,
    coverage: job.coverage,
    allow_failure: job.allow_failure,
    created_at: job.created_at.toISOString(),
    started_at: job.started_at?.toISOString() ?? null,
    finished_at: job.finished_at?.toISOString() ?? null,
    erased_at: job.erased_at?.toISOString() ?? null,
    duration: seconds(job.started_at, isOver ? job.finished_at : tools.now),
    queued_duration: seconds(job.queued_at, job.started_at ?? (isOver ? null : tools.now)),
    user: user === undefined ? null : presentPublicly(user, tools),
    commit: around.commits.get(pipeline.sha) ?? null,
    pipeline: presentPipeline(pipeline, project, tools),
    ...(job.status === 'failed' && { failure_reason: job.failure_reason ?? 'unknown_failure' }),
    web_url: `${tools.config.url}/${project.full_path}/-/jobs/${job.id}`,
    project: { ci_job_token_scope_enabled: false },
  }
}

/** Presents a page of jobs. */
export async function presentJobs<Shown>(
  tools: Tools,
  project: Place,
  jobs: readonly JobRow[],
  present: (job: JobRow, project: Place, around: JobsAround, tools: Tools) => Shown,
): Promise<Shown[]> {
  const around = await readAround(tools, project, jobs)
  return jobs.map((job) => present(job, project, around, tools))
}
