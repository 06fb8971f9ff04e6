import { readDuration } from '../duration.ts'
import * as f from '../faults.ts'
import { readPattern } from '../patterns.ts'
import { isHash, isList, show, type Tree } from '../yaml/tree.ts'

// Keywords that jobs and `default` share, in the forms and with the texts of the published table.

const isDuration = (value: Tree): boolean => f.isString(value) && readDuration(value) !== null
const isCounted = (value: Tree): boolean => f.isString(value) || f.isInteger(value)

const imageKeys = {
  name: f.attribute(f.isString, 'should be a string'),
  entrypoint: f.attribute(
    (value) => f.isStrings(value) || f.isString(value),
    'should be an array of strings',
  ),
  docker: f.anything,
  pull_policy: f.stringOrStrings,
  kubernetes: f.anything,
  ports: f.anything,
}
const imageHash = f.hash(imageKeys)
export const image: f.Check = (at, value) => {
  if (f.isString(value)) return
  if (!isHash(value)) return f.report(at, 'should be a hash or a string')
  if (!('name' in value)) f.report(at, 'missing required keys: name')
  imageHash(at, value)
}

const serviceHash = f.hash({
  ...imageKeys,
  alias: f.attribute(f.isString, 'should be a string'),
  command: f.attribute((value) => f.isStrings(value) || f.isString(value), 'should be an array of strings'),
  variables: f.anything,
})
export const services: f.Check = (at, value) => {
  if (!isList(value)) return f.report(at, 'should be a array')
  for (const service of value) {
    const inside = f.below(at, 'service')
    if (f.isString(service)) continue
    if (!isHash(service)) f.report(inside, 'should be a hash or a string')
    else {
      f.checkRequired(inside, service, ['name'])
      serviceHash(inside, service)
    }
  }
}

const WHEN_UPLOADED = ['on_success', 'on_failure', 'always']
const stringsOf = f.attribute(f.isStrings, 'should be an array of strings')
const REPORTS = `accessibility annotations api_fuzzing browser_performance cluster_image_scanning codequality
  container_scanning coverage_fuzzing cyclonedx dast dependency_scanning dotenv junit license_scanning
  load_performance lsif metrics performance repository_xray requirements requirements_v2 sast secret_detection terraform`
const report = f.attribute(
  (value) => f.isString(value) || f.isStrings(value),
  'should be an array of strings or a string',
)
const coverageReport = f.hash({
  coverage_format: f.oneOf(['cobertura', 'jacoco'], 'must be one of supported formats: cobertura, jacoco.'),
  path: f.attribute(f.isString, 'should be a string'),
})
const reports = f.hash({
  ...Object.fromEntries(REPORTS.split(/\s+/).map((name) => [name, report])),
  coverage_report: (at, value) => {
    coverageReport(at, value)
    if (isHash(value)) f.checkRequired(at, value, ['coverage_format', 'path'])
  },
})
const artifactsHash = f.hash({
  name: f.attribute(f.isString, 'should be a string'),
  paths: stringsOf,
  exclude: stringsOf,
  untracked: f.attribute(f.isBoolean, 'should be a boolean value'),
  when: f.oneOf(WHEN_UPLOADED),
  expire_in: f.attribute((value) => isDuration(value) || value === 'never', 'should be a duration'),
  expose_as: f.attribute(
    (value) => f.isString(value) && value.length <= 100 && /^[A-Za-z0-9_ -]+$/.test(value),
    "can contain only letters, digits, '-', '_' and spaces",
  ),
  public: f.attribute(f.isBoolean, 'should be a boolean value'),
  access: f.oneOf(['none', 'developer', 'maintainer', 'all']),
  reports,
})
export const artifacts: f.Check = (at, value) => {
  artifactsHash(at, value)
  if (!isHash(value)) return
  f.checkTogether(at, value, ['public', 'access'])
  if (value['expose_as'] === undefined) return
  const { paths } = value
  if (!isList(paths)) f.report(at, "can't be blank", 'paths')
  else if (paths.some((path) => f.isString(path) && path.includes('*')))
    f.report(at, "can't contain '*' when used with 'expose_as'", 'paths')
}

const cacheKeyHash = f.hash({
  files: (at, value) => {
    if (!f.isStrings(value)) f.report(at, 'should be an array of strings')
    else if (value.length === 0) f.report(at, 'requires at least 1 item')
    else if (value.length > 2) f.report(at, 'has too many items (maximum is 2)')
  },
  prefix: f.string,
})
const cacheKey: f.Check = (at, value) => {
  if (f.isText(value)) {
    if (/^\.*$|\/|%2f/i.test(show(value))) f.report(at, 'cannot contain the "/" character')
    return
  }
  if (!isHash(value)) return at.faults.add(`${at.path} should be a hash, a string or a symbol`.toLowerCase())
  f.checkRequired(at, value, ['files'])
  cacheKeyHash(at, value)
}
const cacheHash = f.hash({
  key: cacheKey,
  paths: f.strings,
  untracked: f.bool,
  policy: f.attribute(f.isString, 'should be a string'),
  when: f.oneOf(WHEN_UPLOADED),
  unprotect: f.bool,
  fallback_keys: f.strings,
})
const MAX_CACHES = 4
export const cache: f.Check = (at, value) => {
  if (isHash(value)) return cacheHash(at, value)
  if (!isList(value)) return f.report(at, 'should be a hash or an array of hashes')
  if (value.length > MAX_CACHES) f.report(at, `config can have a maximum of ${MAX_CACHES} caches`, 'caches')
  for (const each of value) cacheHash(f.below(at, 'cache'), each)
}

const MAX_TAGS = 50
export const tags: f.Check = (at, value) => {
  if (!f.isStrings(value)) f.report(at, 'should be an array of strings')
  else if (value.length >= MAX_TAGS) f.report(at, `must be less than the limit of ${MAX_TAGS} tags`)
}

const MONTH = 2_678_400
export const timeout: f.Check = (at, value) => {
  const seconds = isCounted(value) ? readDuration(show(value)) : null
  if (seconds === null || seconds <= 0) f.report(at, 'should be a duration')
  else if (seconds > MONTH) f.report(at, 'should not exceed the limit')
}

/** Why a job failed, as `retry:when` names it. */
const FAILURE_REASONS =
  `unknown_failure script_failure api_failure stuck_or_timeout_failure runner_system_failure
  missing_dependency_failure runner_unsupported stale_schedule job_execution_timeout archived_failure unmet_prerequisites
  scheduler_failure data_integrity_failure forward_deployment_failure user_blocked project_deleted ci_quota_exceeded
  pipeline_loop_detected no_matching_runner trace_size_exceeded builds_disabled environment_creation_failure
  deployment_rejected failed_outdated_deployment_job protected_environment_failure insufficient_bridge_permissions
  downstream_bridge_project_not_found invalid_bridge_trigger upstream_bridge_project_not_found
  insufficient_upstream_permissions bridge_pipeline_is_child_pipeline downstream_pipeline_creation_failed
  secrets_provider_not_found reached_max_descendant_pipelines_depth ip_restriction_failure
  reached_max_pipeline_hierarchy_size reached_downstream_pipeline_trigger_rate_limit`.split(/\s+/)
const REASONS = new Set(['always', ...FAILURE_REASONS])

const retryMax: f.Check = (at, value) => {
  if (!f.isInteger(value)) f.report(at, 'is not a number')
  else if (value > 2) f.report(at, 'must be less than or equal to 2')
  else if (value < 0) f.report(at, 'must be greater than or equal to 0')
}
const retryWhen: f.Check = (at, value) => {
  const words = f.isString(value) ? [value] : value
  if (!f.isStrings(words))
    return f.attribute(() => false, 'should be an array of strings or a string')(at, value)
  const unknown = words.filter((word) => !REASONS.has(word))
  if (unknown.length > 0)
    f.attribute(() => false, `contains unknown values: ${unknown.join(', ')}`)(at, value)
}
export const exitCodes = f.attribute(
  (value) => f.isInteger(value) || (isList(value) && value.every(f.isInteger)),
  'should be an array of integers or an integer',
)
const retryHash = f.hash({
  max: (at, value) =>
    f.attribute((each) => f.isInteger(each) && each >= 0 && each <= 2, 'must be less than or equal to 2')(
      at,
      value,
    ),
  when: retryWhen,
  exit_codes: exitCodes,
})
export const retry: f.Check = (at, value) => {
  if (isHash(value)) retryHash(at, value)
  else if (f.isInteger(value)) retryMax(at, value)
  else f.attribute(() => false, 'config has to be either an integer or a hash')(at, value)
}

const idTokens: f.Check = (at, value) => {
  if (!isHash(value)) return f.report(at, 'should be a hash')
  for (const [name, token] of Object.entries(value)) {
    const inside = f.below(at, name)
    if (!isHash(token)) f.report(inside, 'should be a hash')
    else {
      f.checkRequired(inside, token, ['aud'])
      f.hash({ aud: f.stringOrStrings })(inside, token)
    }
  }
}

export const coverage: f.Check = (at, value) => {
  if (!f.isString(value) || readPattern(value) === null) f.report(at, 'must be a regular expression')
}

export const hooks = f.hash({ pre_get_sources_script: f.script })

/** Keywords of `default`, which a job takes whole where it lacks them. */
export const DEFAULT_CHECKS: Readonly<Record<string, f.Check>> = {
  after_script: f.script,
  artifacts,
  before_script: f.script,
  cache,
  hooks,
  id_tokens: idTokens,
  image,
  interruptible: f.bool,
  retry,
  services,
  tags,
  timeout,
}
