import { sql, type RawBuilder } from 'kysely'
import { Type as t, type Static } from 'typebox'
import type { Job as JobRow } from '../../db/schema/ci.ts'
import type { Deployment as Row, Environment } from '../../db/schema/delivery.ts'
import { q, statement, type Slots } from '../../db/statement.ts'
import { moment, nullable } from '../../http/params/schema.ts'
import { presentJobs } from './job.ts'
import type { Place, Tools } from './job_around.ts'
import { Job, presentJob } from './job_detail.ts'
import { UserBasic, authorJson, presentUser, type Author } from '../people/user.ts'

/** An environment as other records tell of one. */
export const EnvironmentBasic = t.Object({
  id: t.Integer(),
  name: t.String(),
  slug: t.String(),
  external_url: nullable(t.String()),
  created_at: moment(),
  updated_at: moment(),
})

export const presentEnvironmentBasic = (row: Environment): Static<typeof EnvironmentBasic> => ({
  id: row.id,
  name: row.name,
  slug: row.slug,
  external_url: row.external_url,
  created_at: row.created_at,
  updated_at: row.updated_at,
})

const STATUSES = ['created', 'running', 'success', 'failed', 'canceled', 'skipped', 'blocked'] as const
export { STATUSES as DEPLOYMENT_STATUSES }

/** A deployment as its environment tells of it. */
export const EnvironmentDeployment = t.Object({
  id: t.Integer(),
  iid: t.Integer(),
  ref: t.String(),
  sha: t.String(),
  created_at: moment(),
  updated_at: moment(),
  user: nullable(UserBasic),
  deployable: nullable(Job),
  status: t.String(),
})
export const Deployment = t.Object({ ...EnvironmentDeployment.properties, environment: EnvironmentBasic })

export type DeploymentWithUser = Row & { readonly user: Author | null }
/** The columns of a DeploymentWithUser, for the rows `deployments`, in their order. */
export const withUser = (deployments: RawBuilder<unknown>): RawBuilder<DeploymentWithUser> =>
  sql`select d.*, ${authorJson(sql`d.user_id`)} as user from (${deployments}) d`

const jobsOf = statement((p: Slots<{ ids: readonly number[] }>) =>
  q
    .selectFrom('ci_jobs')
    .selectAll()
    .where('id', '=', sql<number>`any(${p.ids}::bigint[])`),
)
const environmentsOf = statement((p: Slots<{ ids: readonly number[] }>) =>
  q
    .selectFrom('environments')
    .selectAll()
    .where('id', '=', sql<number>`any(${p.ids}::bigint[])`),
)

/** The jobs of deployments, presented: reads git, so outside of transactions. */
async function readJobs(
  tools: Tools,
  project: Place,
  rows: readonly Row[],
): Promise<ReadonlyMap<number, Static<typeof Job>>> {
  const ids = rows.flatMap(({ job_id }) => job_id ?? [])
  const jobs: JobRow[] = ids.length === 0 ? [] : await tools.db.rows(jobsOf, { ids })
  if (jobs.length === 0) return new Map()
  const shown = await presentJobs(tools, project, jobs, presentJob)
  return new Map(shown.map((job) => [job.id, job]))
}

/** Presents deployments of one project without their environments. */
export async function presentEnvironmentDeployments(
  tools: Tools,
  project: Place,
  rows: readonly DeploymentWithUser[],
): Promise<Static<typeof EnvironmentDeployment>[]> {
  const jobs = await readJobs(tools, project, rows)
  return rows.map((row) => ({
    id: row.id,
    iid: row.iid,
    ref: row.ref,
    sha: row.sha,
    created_at: row.created_at,
    updated_at: row.updated_at,
    user: row.user && presentUser(row.user, tools),
    deployable: (row.job_id === null ? undefined : jobs.get(row.job_id)) ?? null,
    status: row.status,
  }))
}

/** Presents deployments of one project; those whose environment went away meanwhile are left out. */
export async function presentDeployments(
  tools: Tools,
  project: Place,
  rows: readonly DeploymentWithUser[],
): Promise<Static<typeof Deployment>[]> {
  const ids = [...new Set(rows.map(({ environment_id }) => environment_id))]
  const environments = new Map(
    (await tools.db.rows(environmentsOf, { ids })).map((row) => [row.id, presentEnvironmentBasic(row)]),
  )
  const shown = await presentEnvironmentDeployments(tools, project, rows)
  return shown.flatMap((deployment, at) => {
    const environment = environments.get(rows[at]?.environment_id ?? 0)
    return environment === undefined ? [] : [Object.assign(deployment, { environment })]
  })
}
