import { writeConfig } from '../support/config_commit.ts'
import { rowOf, rowsOf } from '../support/rows.ts'
import type { Calls } from './calls.ts'
import type { Scene } from './scene.ts'
import type { World } from '../support/world.ts'

async function environmentOf(
  world: World,
  { project }: Scene,
  { state, deployed }: { readonly state: string; readonly deployed: string },
): Promise<Readonly<Record<string, string>>> {
  await rowsOf(world, 'delete from environments where project_id = $1', [project.id])
  const { id } = await rowOf<{ id: number }>(
    world,
    `insert into environments (project_id, name, slug, tier, state, created_at)
     values ($1, 'review/one', 'review-one', 'development', $2, now() - interval '40 days') returning id`,
    [project.id, state],
  )
  const deployment = await rowOf<{ id: number }>(
    world,
    `with last as (
       insert into project_counters (project_id, counts, last) values ($1, 'deployments', 1)
       on conflict (project_id, counts) do update set last = project_counters.last + 1 returning last)
     insert into deployments (iid, project_id, environment_id, ref, tag, sha, status)
     select last, $1, $2, 'ci', false, repeat('a', 40), $3 from last returning id`,
    [project.id, id, deployed],
  )
  return { environment_id: String(id), deployment_id: String(deployment.id) }
}

const STOPPED: ReadonlySet<string> = new Set(['deleteEnvironment', 'deleteReviewApps'])

/** Environments: a review app without a job that stops it. */
export const environments: Calls = {
  inPrivate: `
                          none   0   5  10  15  20  30  40  50 adm nobody
  listEnvironments         404 404 404 403 403 200 200 200 200 200 401
  getEnvironment           404 404 404 403 403 200 200 200 200 200 401
  createEnvironment        404 404 404 403 403 403 201 201 201 201 401
  updateEnvironment        404 404 404 403 403 403 200 200 200 200 401
  deleteEnvironment        404 404 404 403 403 403 204 204 204 204 401
  stopEnvironment          404 404 404 403 403 403 200 200 200 200 401
  stopStaleEnvironments    404 404 404 403 403 403 200 200 200 200 401
  deleteReviewApps         404 404 404 403 403 403 200 200 200 200 401
`,
  inPublic: `
                          none   0   5  10  15  20  30  40  50 adm nobody
  listEnvironments         200 200 200 200 200 200 200 200 200 200 401
  getEnvironment           200 200 200 200 200 200 200 200 200 200 401
  createEnvironment        403 403 403 403 403 403 201 201 201 201 401
  updateEnvironment        403 403 403 403 403 403 200 200 200 200 401
  deleteEnvironment        403 403 403 403 403 403 204 204 204 204 401
  stopEnvironment          403 403 403 403 403 403 200 200 200 200 401
  stopStaleEnvironments    403 403 403 403 403 403 200 200 200 200 401
  deleteReviewApps         403 403 403 403 403 403 200 200 200 200 401
`,
  bodies: {
    createEnvironment: { name: 'production' },
    updateEnvironment: { tier: 'testing' },
    stopStaleEnvironments: { before: new Date(Date.now() - 30 * 86_400_000).toISOString() },
  },
  queries: { deleteReviewApps: { dry_run: 'false' } },
  set: (world, scene, operation) =>
    environmentOf(world, scene, {
      state: STOPPED.has(operation) ? 'stopped' : 'available',
      deployed: 'failed',
    }),
}

/** Deployments: one of no job, that failed. */
export const deployments: Calls = {
  inPrivate: `
                               none   0   5  10  15  20  30  40  50 adm nobody
  listDeployments               404 404 404 403 403 200 200 200 200 200 401
  getDeployment                 404 404 404 403 403 200 200 200 200 200 401
  createDeployment              404 404 404 403 403 403 201 201 201 201 401
  updateDeployment              404 404 404 403 403 403 200 200 200 200 401
  deleteDeployment              404 404 404 403 403 403 403 204 204 204 401
  listDeploymentMergeRequests   404 404 404 403 403 200 200 200 200 200 401
`,
  inPublic: `
                               none   0   5  10  15  20  30  40  50 adm nobody
  listDeployments               200 200 200 200 200 200 200 200 200 200 401
  getDeployment                 200 200 200 200 200 200 200 200 200 200 401
  createDeployment              403 403 403 403 403 403 201 201 201 201 401
  updateDeployment              403 403 403 403 403 403 200 200 200 200 401
  deleteDeployment              403 403 403 403 403 403 403 204 204 204 401
  listDeploymentMergeRequests   200 200 200 200 200 200 200 200 200 200 401
`,
  bodies: {
    createDeployment: { environment: 'production', sha: 'ci', ref: 'ci', tag: false, status: 'success' },
    updateDeployment: { status: 'success' },
  },
  set: async (world, scene) => {
    writeConfig(world, scene.project, 'build: { script: make }\n')
    return environmentOf(world, scene, { state: 'available', deployed: 'failed' })
  },
}
