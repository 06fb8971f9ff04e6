import type { Config } from '../../config.ts'
import { byKey, expand } from '../config/expand.ts'
import type { Variable } from '../config/plan.ts'
import type { JobDetail } from './store_detail.ts'
import { slugOf, userVariables, variablesOf } from '../creation/predefined.ts'

/** A variable as the runner is given it. */
export interface JobVariable {
  readonly key: string
  readonly value: string
  readonly public: boolean
  readonly masked: boolean
  readonly file: boolean
  readonly raw: boolean
}

type Maskable = Variable & { readonly masked?: boolean }

export interface VariableSources {
  readonly config: Pick<Config, 'url'>
  readonly token: string
  /** Predefined variables of the pipeline, made before its configuration was read. */
  readonly predefined: readonly Variable[]
  /** Of dotenv reports. */
  readonly dotenv: readonly Variable[]
  /** Of instance, groups and project, weakest first. */
  readonly secrets: readonly Maskable[]
  /** Of whoever started the pipeline, and of whoever played the job. */
  readonly pipeline: readonly Variable[]
}

/** Without the environment's row, which may be deleted, a job has none. */
function ofEnvironment({ environment, spec }: JobDetail): Variable[] {
  const planned = spec.environment
  if (environment === undefined || planned === null) return []
  return variablesOf({
    CI_ENVIRONMENT_ID: environment.id,
    CI_ENVIRONMENT_NAME: environment.name,
    CI_ENVIRONMENT_SLUG: environment.slug,
    CI_ENVIRONMENT_URL: planned.url ?? environment.external_url,
    CI_ENVIRONMENT_ACTION: planned.action,
    CI_ENVIRONMENT_TIER: planned.tier ?? environment.tier,
  })
}

// Not CI_JOB_STATUS: the runner sets it for after_script, and the last definition of a variable wins there.
const ofJob = ({ job, spec, pipeline, project }: JobDetail, url: string): Variable[] =>
  variablesOf({
    CI_PIPELINE_ID: pipeline.id,
    CI_PIPELINE_IID: pipeline.iid,
    CI_PIPELINE_URL: `${url}/${project.full_path}/-/pipelines/${pipeline.id}`,
    CI_PIPELINE_NAME: pipeline.name,
    CI_JOB_ID: job.id,
    CI_JOB_URL: `${url}/${project.full_path}/-/jobs/${job.id}`,
    CI_JOB_NAME: job.name,
    CI_JOB_NAME_SLUG: slugOf(job.name),
    CI_JOB_STAGE: job.stage,
    CI_JOB_STARTED_AT: job.started_at?.toISOString(),
    CI_JOB_TIMEOUT: job.timeout,
    CI_JOB_MANUAL: spec.run_when === 'manual' ? true : null,
    CI_JOB_IMAGE: (spec.options['image'] as { readonly name?: string } | undefined)?.name,
    CI_NODE_INDEX: spec.instance_index,
    CI_NODE_TOTAL: spec.instance_total ?? 1,
    CI_SERVER: 'yes',
  })

const plain = (variables: readonly Maskable[], isPublic: boolean): JobVariable[] =>
  variables.map(({ key, value, raw = false, file = false, masked = false }) => ({
    key,
    value,
    public: isPublic,
    masked,
    file,
    raw,
  }))

/** All variables of a job in the published order: a later one of the same name wins. */
export function jobVariables(detail: JobDetail, sources: VariableSources): JobVariable[] {
  const { config, token, predefined, dotenv, secrets, pipeline } = sources
  const { project, user, spec } = detail
  const host = config.url.replace(/^\w+:\/\//, '')
  const scheme = config.url.slice(0, -host.length)
  const credentials: Maskable[] = [
    { key: 'CI_JOB_TOKEN', value: token, masked: true },
    {
      key: 'CI_REPOSITORY_URL',
      value: `${scheme}gitlab-ci-token:${token}@${host}/${project.full_path}.git`,
    },
    { key: 'CI_REGISTRY_USER', value: 'gitlab-ci-token' },
    { key: 'CI_REGISTRY_PASSWORD', value: token, masked: true },
  ]
  return [
    ...plain(predefined, true),
    ...plain(ofJob(detail, config.url), true),
    ...plain(ofEnvironment(detail), true),
    ...plain(userVariables(user), true),
    ...plain(credentials, false),
    ...plain(spec.variables, true),
    ...plain(dotenv, false),
    ...plain(secrets, false),
    ...plain(pipeline, false),
  ]
}

/** The address that a job deploys to, with all variables of the job; null where it has none. */
export function deployedUrl({ spec }: JobDetail, variables: readonly JobVariable[]): string | null {
  const url = spec.environment?.url ?? null
  // Later variables win, and an address never holds itself.
  const known = byKey(variables.filter(({ key }) => key !== 'CI_ENVIRONMENT_URL'))
  return url === null ? null : expand(url, (key) => known.get(key))
}
