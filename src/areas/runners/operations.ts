import { Type as t } from 'typebox'
import { signedIn } from '../../access/gates.ts'
import { digestOf, makeToken } from '../../access/tokens.ts'
import { insertRunner, type NewRunner } from '../../ci/runners.ts'
import { findProjectAs, roleOnGroup } from '../../core/project_roles.ts'
import { ROLES } from '../../core/roles.ts'
import type { Actor, Gate } from '../../http/gate.ts'
import { operation } from '../../http/operation.ts'
import { badParams, forbidden, invalid } from '../../http/problems.ts'
import { listOf, nullable, oneOf } from '../../http/schema.ts'

const TYPES = ['instance_type', 'group_type', 'project_type'] as const
const TOKEN_PREFIX = 'glrt-'

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

const noTags = (): ReturnType<typeof invalid> =>
  invalid({ tags_list: ['can not be empty when runner is not allowed to pick untagged jobs'] })

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
    description: t.Optional(t.String({ maxLength: 1_024 })),
    maintenance_note: t.Optional(t.String({ maxLength: 1_024 })),
    paused: t.Optional(t.Boolean({ default: false })),
    locked: t.Optional(t.Boolean({ default: false })),
    run_untagged: t.Optional(t.Boolean({ default: true })),
    tag_list: t.Optional(listOf(t.String({ maxLength: 255 }))),
    access_level: t.Optional(oneOf(['not_protected', 'ref_protected'], { default: 'not_protected' })),
    maximum_timeout: t.Optional(t.Integer({ minimum: 600, description: 'Seconds' })),
  }),
  gates: [managesPlace],
  handle: async ({ db, actor, params }) => {
    const { runner_type, run_untagged = true, tag_list = [] } = params
    if (!run_untagged && tag_list.length === 0) throw noTags()
    const token = makeToken(TOKEN_PREFIX)
    const runner: NewRunner = {
      runner_type,
      digest: digestOf(token),
      group_id: runner_type === 'group_type' ? (params.group_id ?? null) : null,
      creator_id: actor.id,
      description: params.description ?? null,
      maintenance_note: params.maintenance_note ?? null,
      paused: params.paused ?? false,
      locked: params.locked ?? false,
      run_untagged,
      tag_list: [...new Set(tag_list)].toSorted(),
      access_level: params.access_level ?? 'not_protected',
      maximum_timeout: params.maximum_timeout ?? null,
    }
    const project = runner_type === 'project_type' ? (params.project_id ?? null) : null
    const { id } = await insertRunner(db, runner, project)
    return { id, token, token_expires_at: null }
  },
  returns: t.Object({ id: t.Integer(), token: t.String(), token_expires_at: nullable(t.String()) }),
  refuses: [noTags],
})
