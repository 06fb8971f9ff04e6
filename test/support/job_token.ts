import type { Project } from '../../src/db/schema/tables.ts'
import { digestOf } from '../../src/access/tokens.ts'
import { writeConfig } from './config_commit.ts'
import type { Someone } from './makers.ts'
import { rowOf } from './rows.ts'
import type { World } from './world.ts'

/** A running job of a user; answers its id. The project has a repository. */
export async function makeRunningJob(
  world: World,
  project: Project,
  as: Someone,
  token: string,
): Promise<number> {
  const ref = 'with-a-job'
  writeConfig(world, project, 'build: { script: make }', ref)
  const made = await world.call('POST', `/projects/${project.id}/pipeline`, { as, body: { ref } })
  if (made.status !== 201) throw new Error(made.text)
  const { id } = await rowOf<{ id: number }>(
    world,
    `update ci_jobs set status = 'running', contacted_at = now(), started_at = now(), timeout = 60, token_digest = $2
      where pipeline_id = $1 returning id`,
    [(made.body as { id: number }).id, digestOf(token)],
  )
  return id
}
