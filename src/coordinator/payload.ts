import type { Dependency, JobDetail } from '../ci/jobs/store_detail.ts'
import type { JobVariable } from '../ci/jobs/variables.ts'
import type { Runner } from '../db/schema/ci.ts'
import type { ArtifactsOption, CacheOption, ImageOption, JobOptions } from '../ci/config/options.ts'

// The job as runners are given it: the published shape, word for word.

const REASONS = [
  'unknown_failure',
  'script_failure',
  'runner_system_failure',
  'job_execution_timeout',
  'runner_unsupported',
  'missing_dependency_failure',
  'api_failure',
  'data_integrity_failure',
  'stuck_or_timeout_failure',
]
/** Tokens with these prefixes are masked in logs, whoever printed them. */
const MASKED_PREFIXES = ['glpat-', 'glptt-', 'glcbt-', 'glrt-', 'glrtr-']

export interface PayloadSources {
  readonly detail: JobDetail
  readonly runner: Runner
  readonly token: string
  readonly variables: readonly JobVariable[]
  readonly dependencies: readonly Dependency[]
  /** Whether the pipeline's branch or tag is still there. */
  readonly hasRef: boolean
  readonly url: string
  readonly now: Date
}

const image = (option: ImageOption | undefined): object | null => option ?? null

const steps = ({ before_script = [], script = [], after_script }: JobOptions, timeout: number): object[] => [
  {
    name: 'script',
    script: [...before_script, ...script],
    timeout,
    when: 'on_success',
    allow_failure: false,
  },
  ...(after_script === undefined || after_script.length === 0
    ? []
    : [{ name: 'after_script', script: after_script, timeout, when: 'always', allow_failure: true }]),
]

const REPORT_FORMATS: Readonly<Record<string, string>> = { dotenv: 'gzip', junit: 'gzip', metadata: 'gzip' }

function artifacts(option: ArtifactsOption | undefined): object[] {
  if (option === undefined) return []
  const { name, paths, exclude, untracked = false, when = 'on_success', expire_in } = option
  const archive =
    paths === undefined && !untracked
      ? []
      : [
          {
            name: name ?? null,
            untracked,
            paths: paths ?? [],
            exclude: exclude ?? [],
            when,
            expire_in: expire_in ?? null,
            artifact_type: 'archive',
            artifact_format: 'zip',
          },
        ]
  const reports = Object.entries(option.reports ?? {}).flatMap(([type, given]) => {
    const files = reportPaths(given)
    if (files.length === 0) return []
    return [
      {
        name: `${type}.xml`.replace(/^dotenv\.xml$/, '.env'),
        untracked: false,
        paths: files,
        when: 'always',
        expire_in: expire_in ?? null,
        artifact_type: type === 'coverage_report' ? 'cobertura' : type,
        artifact_format: REPORT_FORMATS[type] ?? 'gzip',
      },
    ]
  })
  return [...archive, ...reports]
}

function reportPaths(given: unknown): string[] {
  if (typeof given === 'string') return [given]
  if (Array.isArray(given)) return given.filter((path) => typeof path === 'string')
  const { path } = (given ?? {}) as { readonly path?: unknown }
  return typeof path === 'string' ? [path] : []
}

const cacheKey = (key: CacheOption['key']): string =>
  typeof key === 'object' ? [key.prefix, ...key.files].filter(Boolean).join('-') : (key ?? 'default')

const cache = (options: readonly CacheOption[] = []): object[] =>
  options.map(
    ({ key, paths = [], policy = 'pull-push', when = 'on_success', untracked = false, fallback_keys }) => ({
      key: cacheKey(key),
      paths,
      policy,
      when,
      untracked,
      fallback_keys: fallback_keys ?? [],
    }),
  )

const DEFAULT_DEPTH = 20

function gitInfo({ detail, token, url, hasRef }: PayloadSources): object {
  const { pipeline, project } = detail
  const given = project.settings['ci_default_git_depth']
  const depth = typeof given === 'number' ? given : DEFAULT_DEPTH
  const host = url.replace(/^\w+:\/\//, '')
  const branch = `+refs/heads/${pipeline.ref}:refs/remotes/origin/${pipeline.ref}`
  const ref = pipeline.tag ? `+refs/tags/${pipeline.ref}:refs/tags/${pipeline.ref}` : branch
  const isNamed = hasRef && !pipeline.ref.startsWith('refs/')
  return {
    repo_url: `${url.slice(0, -host.length)}gitlab-ci-token:${token}@${host}/${project.full_path}.git`,
    ref: pipeline.ref,
    sha: pipeline.sha,
    before_sha: pipeline.before_sha,
    ref_type: pipeline.tag ? 'tag' : 'branch',
    // By its hash the commit is found although its branch moved on, or is gone.
    refspecs: [`+${pipeline.sha}:refs/pipelines/${pipeline.id}`, ...(isNamed ? [ref] : [])],
    depth,
    repo_object_format: 'sha1',
  }
}

/** The job as the runner receives it. */
export function jobPayload(sources: PayloadSources): object {
  const { detail, runner, token, variables, dependencies, now } = sources
  const { job, pipeline, project, spec, user } = detail
  const options = spec.options as JobOptions
  const timeout = job.timeout ?? 3_600
  return {
    id: job.id,
    token,
    allow_git_fetch: project.settings['build_git_strategy'] !== 'clone',
    job_info: {
      id: job.id,
      name: job.name,
      stage: job.stage,
      project_id: project.id,
      project_name: project.name,
      project_full_path: project.full_path,
      pipeline_id: pipeline.id,
      user_id: user?.id ?? null,
      time_in_queue_seconds: Math.max(0, (now.getTime() - (job.queued_at ?? now).getTime()) / 1_000),
      project_jobs_running_on_instance_runners_count: '0',
      queue_size: 0,
      queue_depth: 0,
    },
    git_info: gitInfo(sources),
    runner_info: { timeout, uuid: String(runner.id) },
    variables,
    steps: steps(options, timeout),
    image: image(options.image),
    services: options.services ?? [],
    artifacts: artifacts(options.artifacts),
    cache: cache(options.cache),
    credentials: [],
    // A job reads the artifacts that it depends on with its own token.
    dependencies: dependencies.map(({ id, name, archive }) => ({
      id,
      token,
      name,
      ...(archive && { artifacts_file: archive }),
    })),
    features: {
      trace_sections: true,
      token_mask_prefixes: MASKED_PREFIXES,
      failure_reasons: REASONS,
    },
    hooks: (options.hooks?.pre_get_sources_script ?? []).length
      ? [{ name: 'pre_get_sources_script', script: options.hooks?.pre_get_sources_script }]
      : [],
    secrets: options.secrets ?? {},
  }
}
