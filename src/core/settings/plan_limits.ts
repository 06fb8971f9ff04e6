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

/** The file that enforces each limit, or why nothing that is served reaches it. */
export const ENFORCEMENT: Readonly<
  Record<Limit, { readonly file: string } | { readonly unreached: string }>
> = {
  ci_instance_level_variables: { file: 'src/areas/variables/actions.ts' },
  ci_pipeline_size: { file: 'src/ci/creation/planning_context.ts' },
  ci_active_jobs: { file: 'src/ci/creation/creation_limits.ts' },
  ci_project_subscriptions: { unreached: 'projects subscribe to no pipelines of others' },
  ci_pipeline_schedules: { file: 'src/areas/pipeline_schedules/operations.ts' },
  ci_needs_size_limit: { file: 'src/ci/creation/planning_context.ts' },
  ci_registered_group_runners: { file: 'src/areas/runners/creation.ts' },
  ci_registered_project_runners: { file: 'src/areas/runners/creation.ts' },
  dotenv_size: { file: 'src/ci/reports/dotenv.ts' },
  dotenv_variables: { file: 'src/ci/reports/dotenv.ts' },
  conan_max_file_size: { unreached: 'there is no registry of Conan packages' },
  enforcement_limit: { file: 'src/core/places/namespace_storage.ts' },
  generic_packages_max_file_size: { file: 'src/packages/publish.ts' },
  helm_max_file_size: { unreached: 'there is no registry of Helm charts' },
  notification_limit: { file: 'src/core/places/namespace_storage.ts' },
  maven_max_file_size: { file: 'src/packages/publish.ts' },
  npm_max_file_size: { file: 'src/packages/publish.ts' },
  nuget_max_file_size: { unreached: 'there is no registry of NuGet packages' },
  pypi_max_file_size: { file: 'src/packages/publish.ts' },
  terraform_module_max_file_size: { unreached: 'there is no registry of Terraform modules' },
  storage_size_limit: { file: 'src/core/places/namespace_storage.ts' },
}
export type Limits = Readonly<Record<Limit, number>>

// A namespace has the plan of its root; a plan without a row has the limits of `default`.
const limitsOfRoot = statement(
  (p: Slots<{ root: number }>) => sql<{ limits: Readonly<Record<string, number>> }>`
    select l.limits from plan_limits l left join namespaces n on n.id = ${p.root} and n.plan = l.plan_name
     where l.plan_name = 'default' or n.id is not null order by n.id nulls last limit 1`,
)

/** Anything with the ids of its namespaces from the root down: a group, a user's namespace, a project. */
interface Place {
  readonly traversal_ids: readonly number[]
}

/** Reads the limits of the plan that a place stands in. The function gives Infinity where the plan says 0. */
export async function limitsOf(db: Db, place: Place): Promise<(name: Limit) => number> {
  const row = await db.one(limitsOfRoot, { root: place.traversal_ids[0] ?? 0 })
  return (name) => (row?.limits[name] ?? DEFAULT_LIMITS[name]) || Infinity
}

/** One limit of the plan that a place stands in; Infinity where the plan says 0. */
export const limitOf = async (db: Db, place: Place, name: Limit): Promise<number> =>
  (await limitsOf(db, place))(name)
