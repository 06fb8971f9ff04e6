import { digestOf } from '../../src/access/tokens.ts'
import { rowOf, rowsOf } from '../support/rows.ts'
import type { World } from '../support/world.ts'
import type { Calls } from './calls.ts'
import type { Scene } from './scene.ts'

const tokenOf = ({ id }: { readonly id: number }): string => `glrt-of-${id}`
const registrationOf = ({ id }: { readonly id: number }): string => `GR1348941-of-${id}`
const ALWAYS = '201 201 201 201 201 201 201 201 201 201 201'

/** A runner of the project in the path, and one of another project in its group, which runs its jobs too. */
export const runners: Calls = {
  inPrivate: `
                                  none   0   5  10  15  20  30  40  50 adm nobody
  createUserRunner                 403 403 403 403 403 403 403 201 201 201 401
  listRunners                      200 200 200 200 200 200 200 200 200 200 401
  listAllRunners                   403 403 403 403 403 403 403 403 403 200 401
  listProjectRunners               404 404 404 403 403 403 403 200 200 200 401
  listGroupRunners                 404 404 403 403 403 403 403 200 200 200 401
  getRunner                        403 403 403 403 403 403 403 200 200 200 401
  updateRunner                     403 403 403 403 403 403 403 200 200 200 401
  deleteRunner                     403 403 403 403 403 403 403 204 204 204 401
  listRunnerJobs                   403 403 403 403 403 403 403 200 200 200 401
  listRunnerManagers               403 403 403 403 403 403 403 200 200 200 401
  addProjectRunner                 404 404 404 403 403 403 403 201 201 201 401
  removeProjectRunner              404 404 404 403 403 403 403 204 204 204 401
  rotateRunnerToken                403 403 403 403 403 403 403 201 201 201 401
  rotateInstanceRegistrationToken  403 403 403 403 403 403 403 403 403 201 401
  rotateGroupRegistrationToken     404 404 403 403 403 403 403 403 201 201 401
  rotateProjectRegistrationToken   404 404 404 403 403 403 403 201 201 201 401
  createRegisteredRunner           ${ALWAYS}
  rotatePresentedRunnerToken       ${ALWAYS}
`,
  inPublic: `
                                  none   0   5  10  15  20  30  40  50 adm nobody
  listProjectRunners               403 403 403 403 403 403 403 200 200 200 401
  listGroupRunners                 403 403 403 403 403 403 403 200 200 200 401
  addProjectRunner                 403 403 403 403 403 403 403 201 201 201 401
  removeProjectRunner              403 403 403 403 403 403 403 204 204 204 401
  rotateGroupRegistrationToken     403 403 403 403 403 403 403 403 201 201 401
  rotateProjectRegistrationToken   403 403 403 403 403 403 403 201 201 201 401
`,
  bodies: {
    createUserRunner: ({ project }) => ({ runner_type: 'project_type', project_id: project.id }),
    updateRunner: { description: 'new' },
    // The set-up gives this id to the other project's runner.
    addProjectRunner: ({ project }) => ({ runner_id: 1_000_000 + project.id }),
    createRegisteredRunner: ({ project }) => ({ token: registrationOf(project) }),
    rotatePresentedRunnerToken: ({ project }) => ({ token: tokenOf(project) }),
  },
  set: async (world, { group, project }, operation) => {
    const { make } = world
    const other = 1_000_000 + project.id
    await rowsOf(
      world,
      `delete from ci_runners where id = any($1) or digest = $2 or id in (
         select runner_id from ci_runner_projects where project_id = $3)`,
      [[other], digestOf(tokenOf(project)), project.id],
    )
    await rowsOf(world, 'delete from ci_registration_tokens where project_id = $1 or digest = $2', [
      project.id,
      digestOf(registrationOf(project)),
    ])
    await rowsOf(world, 'insert into ci_registration_tokens (project_id, digest) values ($1, $2)', [
      project.id,
      digestOf(registrationOf(project)),
    ])
    const place = await elsewhere(world, group, project)
    await rowsOf(
      world,
      `insert into ci_runners (id, runner_type, digest) overriding system value values ($1, 'project_type', $2)`,
      [other, digestOf(`${tokenOf(project)}-other`)],
    )
    const { id } = await rowOf<{ id: number }>(
      world,
      `insert into ci_runners (runner_type, digest) values ('project_type', $1) returning id`,
      [digestOf(tokenOf(project))],
    )
    await make.sql(`
      insert into ci_runner_projects (runner_id, project_id, created_at) values
        (${other}, ${place}, now() - interval '1 day'), (${id}, ${project.id}, now())`)
    if (operation === 'removeProjectRunner')
      await make.sql(
        `insert into ci_runner_projects (runner_id, project_id) values (${other}, ${project.id})`,
      )
    const ofProject = /Project/.test(operation)
    const ofGroup = /Group/.test(operation)
    return { id: String(ofProject ? project.id : ofGroup ? group.id : id), runner_id: String(other) }
  },
}

/** Another project of the group: made once. */
async function elsewhere(
  world: World,
  group: Scene['group'],
  project: { readonly id: number },
): Promise<number> {
  const [found] = await rowsOf<{ id: number }>(
    world,
    'select id from projects where namespace_id = $1 and id <> $2 order by id limit 1',
    [group.id, project.id],
  )
  return found?.id ?? (await world.make.project({ group })).id
}
