/** The published limits of a plan that has none of its own, in the published order. */
export const DEFAULT_LIMITS = {
  ci_instance_level_variables: 25,
  ci_pipeline_size: 0,
  ci_active_jobs: 0,
  ci_project_subscriptions: 2,
  ci_pipeline_schedules: 10,
  ci_needs_size_limit: 50,
  ci_registered_group_runners: 1000,
  ci_registered_project_runners: 1000,
  dotenv_size: 5_120,
  dotenv_variables: 20,
  conan_max_file_size: 3_221_225_472,
  enforcement_limit: 10_000,
  generic_packages_max_file_size: 5_368_709_120,
  helm_max_file_size: 5_242_880,
  notification_limit: 10_000,
  maven_max_file_size: 3_221_225_472,
  npm_max_file_size: 524_288_000,
  nuget_max_file_size: 524_288_000,
  pypi_max_file_size: 3_221_225_472,
  terraform_module_max_file_size: 1_073_741_824,
  storage_size_limit: 15_000,
} as const satisfies Record<string, number>

export type Limit = keyof typeof DEFAULT_LIMITS
export type Limits = Readonly<Record<Limit, number>>

/** What is wrong with the given limits: none may be below zero. */
export const limitFaults = (given: Readonly<Partial<Record<string, number>>>): Record<string, string[]> =>
  Object.fromEntries(
    Object.entries(given).flatMap(([name, value]) =>
      value !== undefined && value < 0 ? [[name, ['must be greater than or equal to 0']]] : [],
    ),
  )

/** Every plan name the interface knows; a plan exists when it has a row. */
export const PLAN_NAMES = [
  'default',
  'free',
  'bronze',
  'silver',
  'premium',
  'gold',
  'ultimate',
  'ultimate_trial',
  'premium_trial',
  'ultimate_trial_paid_customer',
  'opensource',
] as const
