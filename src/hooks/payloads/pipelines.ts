import { sql } from 'kysely'
import { repositoryPath } from '../../core/places/projects.ts'
import type { Job } from '../../db/schema/ci.ts'
import type { Pipeline } from '../../db/schema/repositories.ts'
import { statement, type Slots } from '../../db/statement.ts'
import {
  commitPayload,
  projectPayload,
  repositoryPayload,
  userPayload,
  userPayloads,
  type EventRow,
  type Payload,
  type Site,
} from './common.ts'
import { findMergeRequestRow, mergeRequestAttributes } from './merge_requests.ts'

type PipelineRow = Pipeline & { readonly is_blocked: boolean }
const pipeline = statement(
  (p: Slots<{ id: number }>) => sql<PipelineRow>`
    select l.*, coalesce((select u.state <> 'active' from users u where u.id = l.user_id), false) as is_blocked
      from pipelines l where l.id = ${p.id}`,
)

type JobRow = Job & {
  readonly run_when: string
  readonly environment: {
    readonly name: string
    readonly action: string
    readonly tier: string | null
  } | null
  readonly runner: Payload | null
  readonly artifact: { readonly filename: string; readonly size: number } | null
  readonly retries: number
}
const jobColumns = sql`
  j.*, s.run_when,
  case when s.environment is not null
       then jsonb_build_object('name', coalesce(e.name, s.environment->>'name'), 'action', s.environment->>'action',
                               'tier', coalesce(e.tier, s.environment->>'tier')) end as environment,
  case when r.id is not null then json_build_object(
    'id', r.id, 'description', r.description, 'runner_type', r.runner_type, 'active', not r.paused,
    'is_shared', r.runner_type = 'instance_type', 'tags', coalesce(to_json(t.tags), '[]')) end as runner,
  (select json_build_object('filename', a.filename, 'size', a.size) from ci_job_artifacts a
    where a.job_id = j.id and a.file_type = 'archive' limit 1) as artifact,
  (select count(*)::int from ci_jobs o where o.pipeline_id = j.pipeline_id and o.name = j.name and o.id < j.id) as retries`
const jobSources = sql`
  ci_jobs j join ci_job_specs s on s.id = j.spec_id left join environments e on e.id = j.environment_id
  left join ci_runners r on r.id = j.runner_id left join ci_tag_sets t on t.id = j.tag_set_id`
const jobsOf = statement(
  (p: Slots<{ pipeline_id: number }>) => sql<JobRow>`
    select ${jobColumns} from ${jobSources}
     where j.pipeline_id = ${p.pipeline_id} and not j.retried order by j.stage_index, j.id`,
)
const job = statement(
  (p: Slots<{ id: number }>) => sql<JobRow>`select ${jobColumns} from ${jobSources} where j.id = ${p.id}`,
)

const seconds = (from: Date | null, to: Date | null): number | null =>
  from === null || to === null ? null : (to.getTime() - from.getTime()) / 1000
const source = statement(
  (p: Slots<{ id: number }>) => sql<{ job_id: number; pipeline_id: number; project_id: number }>`
    select j.id as job_id, j.pipeline_id, j.project_id from ci_jobs j where j.id = ${p.id}`,
)

/** The pipeline that started this one, where one did. */
async function sourcePipeline(site: Site, row: Pipeline): Promise<Payload> {
  const from = row.source_job_id === null ? undefined : await site.db.one(source, { id: row.source_job_id })
  const project = from && (await projectPayload(site, from.project_id))
  if (from === undefined || project === undefined) return {}
  const { id, web_url, path_with_namespace } = project
  return {
    source_pipeline: {
      project: { id, web_url, path_with_namespace },
      job_id: from.job_id,
      pipeline_id: from.pipeline_id,
    },
  }
}

function buildPayload(row: JobRow, people: ReadonlyMap<number, Payload>, now: Date): Payload {
  const isOver = row.finished_at !== null
  return {
    id: row.id,
    stage: row.stage,
    name: row.name,
    status: row.status,
    created_at: row.created_at,
    started_at: row.started_at,
    finished_at: row.finished_at,
    duration: seconds(row.started_at, row.finished_at ?? now),
    queued_duration: seconds(row.queued_at, row.started_at ?? (isOver ? null : now)),
    failure_reason: row.failure_reason,
    when: row.run_when,
    manual: row.run_when === 'manual',
    allow_failure: row.allow_failure,
    user: people.get(row.user_id ?? 0) ?? null,
    runner: row.runner,
    artifacts_file: row.artifact ?? { filename: null, size: null },
    environment: row.environment && {
      name: row.environment.name,
      action: row.environment.action,
      deployment_tier: row.environment.tier,
    },
  }
}

async function mergeRequestPayload(site: Site, id: number | null): Promise<Payload | null> {
  const row = id === null ? undefined : await findMergeRequestRow(site, id)
  const project = row && (await projectPayload(site, row.project_id))
  if (row === undefined || project === undefined) return null
  const all = await mergeRequestAttributes(site, row, project)
  const names = [
    'id',
    'iid',
    'title',
    'source_branch',
    'source_project_id',
    'target_branch',
    'target_project_id',
  ]
  const kept = [...names, 'state', 'merge_status', 'detailed_merge_status', 'url']
  return Object.fromEntries(kept.map((name) => [name, all[name]]))
}

/** A pipeline that entered a state. Pipelines of blocked users are not told of. */
export async function pipelineHook(site: Site, event: EventRow): Promise<Payload | undefined> {
  const row = await site.db.one(pipeline, { id: event.target_id ?? 0 })
  const project = await projectPayload(site, event.project_id)
  if (row === undefined || row.is_blocked || project === undefined) return undefined
  const jobs = await site.db.rows(jobsOf, { pipeline_id: row.id })
  const ids = [...new Set([row.user_id, ...jobs.map(({ user_id }) => user_id)])].filter((id) => id !== null)
  const people = new Map((await userPayloads(site, ids)).map((user) => [user.id, user]))
  const { homepage: _home, url: _url, ssh_url: _ssh, http_url: _http, ...shortProject } = project
  const repository = site.git.repository(repositoryPath(project.id))
  return {
    object_kind: 'pipeline',
    object_attributes: {
      id: row.id,
      iid: row.iid,
      name: row.name,
      ref: row.ref,
      tag: row.tag,
      sha: row.sha,
      before_sha: row.before_sha,
      source: row.source,
      status: event.action,
      detailed_status: event.action === 'success' ? 'passed' : event.action,
      stages: row.stages,
      created_at: row.created_at,
      finished_at: row.finished_at,
      duration: row.duration,
      queued_duration: seconds(row.created_at, row.started_at),
      protected_ref: row.protected,
      variables: [],
      url: `${project.web_url}/-/pipelines/${row.id}`,
    },
    merge_request: await mergeRequestPayload(site, row.merge_request_id),
    user: people.get(row.user_id ?? 0) ?? null,
    project: shortProject,
    commit: (await commitPayload(repository, row.sha, project)) ?? null,
    builds: jobs.map((one) => buildPayload(one, people, event.created_at)),
    ...(await sourcePipeline(site, row)),
  }
}

/** The pipeline of a job, as payloads of jobs show its commit. */
function pipelineCommit(whole: Pipeline, commit: Payload | undefined): Payload {
  const author = commit?.['author'] as { name: string; email: string } | undefined
  return {
    id: whole.id,
    name: whole.name,
    sha: whole.sha,
    message: commit?.['message'] ?? null,
    author_name: author?.name ?? null,
    author_email: author?.email ?? null,
    author_url: author === undefined ? null : `mailto:${author.email}`,
    status: whole.status,
    duration: whole.duration,
    started_at: whole.started_at,
    started_at_iso: whole.started_at,
    finished_at: whole.finished_at,
    finished_at_iso: whole.finished_at,
  }
}

/** A job that entered a state. */
export async function jobHook(site: Site, event: EventRow): Promise<Payload | undefined> {
  const row = await site.db.one(job, { id: event.target_id ?? 0 })
  const project = await projectPayload(site, event.project_id)
  const whole = row && (await site.db.one(pipeline, { id: row.pipeline_id }))
  if (row === undefined || project === undefined || whole === undefined || whole.is_blocked) return undefined
  const commit = await commitPayload(site.git.repository(repositoryPath(project.id)), whole.sha, project)
  const built = buildPayload(row, new Map(), event.created_at)
  const times = { created_at: row.created_at, started_at: row.started_at, finished_at: row.finished_at }
  return {
    object_kind: 'build',
    ref: whole.ref,
    tag: whole.tag,
    before_sha: whole.before_sha,
    sha: whole.sha,
    build_id: row.id,
    build_name: row.name,
    build_stage: row.stage,
    build_status: event.action,
    ...Object.fromEntries(
      Object.entries(times).flatMap(([name, at]) => [
        [`build_${name}`, at],
        [`build_${name}_iso`, at],
      ]),
    ),
    build_duration: built['duration'],
    build_queued_duration: built['queued_duration'],
    build_allow_failure: row.allow_failure,
    build_failure_reason: row.failure_reason ?? 'unknown_failure',
    retries_count: row.retries,
    pipeline_id: row.pipeline_id,
    runner: row.runner,
    project_id: project.id,
    project_name: `${String(project['namespace'])} / ${project.name}`,
    user: await userPayload(site, row.user_id),
    commit: pipelineCommit(whole, commit),
    repository: repositoryPayload(project, true),
    project,
    environment: built['environment'],
    ...(await sourcePipeline(site, whole)),
  }
}
