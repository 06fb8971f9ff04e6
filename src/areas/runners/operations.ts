import { Type as t } from 'typebox'
import { signedIn } from '../../access/gates/gates.ts'
import { findProjectAs, roleOnGroup } from '../../core/places/project_roles.ts'
import { ROLES } from '../../core/sight/roles.ts'
import type { Actor, Gate } from '../../http/gate.ts'
import { operation } from '../../http/operation.ts'
import { badParams, forbidden } from '../../http/problems.ts'
import { oneOf } from '../../http/params/schema.ts'
import { createIn, tooMany } from './creation.ts'
import { fields, newRunnerOf, noTags, TOKEN_PREFIX, TYPES } from './fields.ts'
import { homeOf } from './homes.ts'
import { RunnerToken } from './token_operations.ts'

interface Wanted {
  readonly runner_type: (typeof TYPES)[number]
  readonly group_id?: number
  readonly project_id?: number
}

/** A place that cannot be seen and one that is not there are alike: nobody may make a runner for either. */
const managesPlace: Gate<'allows', never, { actor: Actor; params: Wanted }, object> = {
  kind: 'allows',
  says: 'an administrator, an Owner of the group or a Maintainer of the project, by the kind of runner',
  refuses: forbidden,
  pass: async ({ db, actor, params: { runner_type, group_id, project_id } }) => {
    if (runner_type === 'group_type' && group_id === undefined) throw badParams(['group_id is missing'])
    if (runner_type === 'project_type' && project_id === undefined) throw badParams(['project_id is missing'])
    if (group_id !== undefined && project_id !== undefined)
      throw badParams(['project_id, group_id are mutually exclusive'])
    const holds = async (): Promise<boolean> => {
      if (runner_type === 'instance_type') return actor.admin
      if (group_id !== undefined) {
        const role = await roleOnGroup(db, group_id, actor.id)
        return role !== undefined && (actor.admin || role >= ROLES.owner)
      }
      const project = project_id === undefined ? undefined : await findProjectAs(db, project_id, actor.id)
      return project !== undefined && (actor.admin || project.role >= ROLES.maintainer)
    }
    return (await holds()) ? {} : undefined
  },
}

export const createUserRunner = operation({
  method: 'POST',
  path: '/user/runners',
  summary: 'Create a runner; its token is shown this once',
  published: true,
  scopes: ['create_runner'],
  first: [signedIn],
  params: t.Object({
    runner_type: oneOf(TYPES),
    group_id: t.Optional(t.Integer({ description: 'Of a runner of `group_type`' })),
    project_id: t.Optional(t.Integer({ description: 'Of a runner of `project_type`' })),
    ...fields,
  }),
  gates: [managesPlace],
  handle: async ({ db, actor, params }) => {
    const { runner_type, group_id, project_id } = params
    const home = await homeOf(db, {
      group_id: runner_type === 'group_type' ? (group_id ?? null) : null,
      project_id: runner_type === 'project_type' ? (project_id ?? null) : null,
    })
    if (home === undefined) throw forbidden()
    const kept = newRunnerOf(params)
    const { runner, token } = await createIn(db, home, { prefix: TOKEN_PREFIX, creator_id: actor.id, kept })
    return { id: runner.id, token, token_expires_at: null }
  },
  returns: RunnerToken,
  refuses: [noTags, tooMany],
})

export * from './list_operations.ts'
export * from './project_operations.ts'
export * from './runner_operations.ts'
export {
  createRegisteredRunner,
  rotateGroupRegistrationToken,
  rotateInstanceRegistrationToken,
  rotatePresentedRunnerToken,
  rotateProjectRegistrationToken,
  rotateRunnerToken,
} from './token_operations.ts'
