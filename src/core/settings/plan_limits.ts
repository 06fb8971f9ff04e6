import { sql } from 'kysely'
import type { Db } from '../../db/db.ts'
import { statement, type Slots } from '../../db/statement.ts'

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

/** The file that asks for each limit; null for a limit that nothing served can reach yet. */
export const ENFORCED_IN: Readonly<Record<Limit, string | null>> = {
  ci_instance_level_variables: 'src/areas/variables/actions.ts',
  ci_pipeline_size: 'src/ci/creation/planning_context.ts',
  ci_active_jobs: 'src/ci/creation/creation_limits.ts',
  ci_project_subscriptions: null,
  ci_pipeline_schedules: 'src/areas/pipeline_schedules/operations.ts',
  ci_needs_size_limit: 'src/ci/creation/planning_context.ts',
  ci_registered_group_runners: null,
  ci_registered_project_runners: null,
  dotenv_size: 'src/ci/reports/dotenv.ts',
  dotenv_variables: 'src/ci/reports/dotenv.ts',
  conan_max_file_size: null,
  enforcement_limit: 'src/core/places/namespace_storage.ts',
  generic_packages_max_file_size: 'src/packages/publish.ts',
  helm_max_file_size: null,
  notification_limit: null,
  maven_max_file_size: 'src/packages/publish.ts',
  npm_max_file_size: 'src/packages/publish.ts',
  nuget_max_file_size: null,
  pypi_max_file_size: 'src/packages/publish.ts',
  terraform_module_max_file_size: null,
  storage_size_limit: 'src/core/places/namespace_storage.ts',
}
export type Limits = Readonly<Record<Limit, number>>

// A namespace has the plan of its root; a plan without a row has the limits of `default`.
const limitsOfRoot = statement(
  (p: Slots<{ root: number }>) => sql<{ limits: Readonly<Record<string, number>> }>`
    select l.limits from plan_limits l left join namespaces n on n.id = ${p.root} and n.plan = l.plan_name
     where l.plan_name = 'default' or n.id is not null order by n.id nulls last limit 1`,
)

/**
 * A limit of the plan that a group, a user's namespace or a project stands in; Infinity where the plan says 0. `place` is
 * anything with the ids of its namespaces from the root down.
 */
export async function limitOf(
  db: Db,
  place: { readonly traversal_ids: readonly number[] },
  name: Limit,
): Promise<number> {
  const row = await db.one(limitsOfRoot, { root: place.traversal_ids[0] ?? 0 })
  return (row?.limits[name] ?? DEFAULT_LIMITS[name]) || Infinity
}
