import type { Project } from '../../db/schema/tables.ts'

// Settings of a project beside its columns, with their defaults.

const LEVELS = ['disabled', 'private', 'enabled'] as const
export type FeatureLevel = (typeof LEVELS)[number]

/** Features of a project that can be disabled or limited to members; all but `repository` are kept in its settings. */
export const FEATURE_LEVELS = {
  issues: 'enabled',
  repository: 'enabled',
  merge_requests: 'enabled',
  forking: 'enabled',
  wiki: 'enabled',
  builds: 'enabled',
  snippets: 'enabled',
  pages: 'private',
  analytics: 'enabled',
  container_registry: 'enabled',
  security_and_compliance: 'private',
  releases: 'enabled',
  environments: 'enabled',
  feature_flags: 'enabled',
  infrastructure: 'enabled',
  monitor: 'enabled',
  model_experiments: 'enabled',
  model_registry: 'enabled',
  requirements: 'enabled',
} as const satisfies Record<string, FeatureLevel>
export type Feature = keyof typeof FEATURE_LEVELS

/**
 * Published features that no operation serves yet. Records show them disabled, whatever is set: clients rely on what a
 * record announces. The area that serves one removes its name.
 */
const UNSERVED_FEATURES: ReadonlySet<Feature> = new Set<Feature>([
  'wiki',
  'pages',
  'container_registry',
  'releases',
  'feature_flags',
  'infrastructure',
  'model_experiments',
  'model_registry',
  'requirements',
])
/** The same for switches that belong to no feature. */
export const UNSERVED_FLAGS = ['lfs_enabled'] as const

/** Features that need the repository: never more open than it is. */
export const REPOSITORY_FEATURES: readonly Feature[] = ['merge_requests']

/** The older switches, and the feature that each turns on and off. */
export const FEATURE_SWITCHES = {
  issues_enabled: 'issues',
  merge_requests_enabled: 'merge_requests',
  wiki_enabled: 'wiki',
  jobs_enabled: 'builds',
  snippets_enabled: 'snippets',
  container_registry_enabled: 'container_registry',
} as const satisfies Record<string, Feature>

export const FLAGS = {
  packages_enabled: true,
  service_desk_enabled: false,
  lfs_enabled: true,
  shared_runners_enabled: true,
  group_runners_enabled: true,
  resolve_outdated_diff_discussions: false,
  emails_enabled: true,
  mr_default_target_self: false,
  public_jobs: true,
  ci_forward_deployment_enabled: true,
  ci_separated_caches: true,
  only_allow_merge_if_pipeline_succeeds: false,
  allow_merge_on_skipped_pipeline: false,
  only_allow_merge_if_all_discussions_are_resolved: false,
  request_access_enabled: true,
  remove_source_branch_after_merge: true,
  printing_merge_request_link_enabled: true,
  enforce_auth_checks_on_uploads: true,
  auto_devops_enabled: false,
  autoclose_referenced_issues: true,
  keep_latest_artifact: true,
} as const satisfies Record<string, boolean>

/** One of a few words each, the first of which holds until another is set. */
export const WORDS = {
  merge_method: ['merge', 'rebase_merge', 'ff'],
  squash_option: ['default_off', 'never', 'always', 'default_on'],
  auto_cancel_pending_pipelines: ['enabled', 'disabled'],
  build_git_strategy: ['fetch', 'clone'],
  auto_devops_deploy_strategy: ['continuous', 'manual', 'timed_incremental'],
} as const satisfies Record<string, readonly string[]>

export const TEXTS = [
  'suggestion_commit_message',
  'merge_commit_template',
  'squash_commit_template',
  'issue_branch_template',
  'issues_template',
  'merge_requests_template',
  'ci_config_path',
] as const

export const NUMBERS = { build_timeout: 3_600, ci_default_git_depth: 20 } as const

const SWITCH_OF: Readonly<Partial<Record<Feature, string>>> = Object.fromEntries(
  Object.entries(FEATURE_SWITCHES).map(([name, feature]) => [feature, name]),
)

/** The level of a feature: disabled where nothing serves it, else as set by `issues_access_level` and the like, or by the older `issues_enabled`. */
export function levelOf(
  { settings, repository_access_level }: Pick<Project, 'settings' | 'repository_access_level'>,
  feature: Feature,
): FeatureLevel {
  if (feature === 'repository') return repository_access_level
  if (UNSERVED_FEATURES.has(feature)) return 'disabled'
  const level = settings[`${feature}_access_level`]
  if (level === 'disabled' || level === 'private' || level === 'enabled') return level
  const old = SWITCH_OF[feature]
  return old !== undefined && settings[old] === false ? 'disabled' : FEATURE_LEVELS[feature]
}
