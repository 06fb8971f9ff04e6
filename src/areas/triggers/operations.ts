import { randomBytes } from 'node:crypto'
import { Type as t } from 'typebox'
import { maintainer, project, signedIn } from '../../access/gates/gates.ts'
import { digestOf } from '../../access/tokens.ts'
import type { Project } from '../../core/places/projects.ts'
import { allows, loads, type Actor, type Has } from '../../http/gate.ts'
import { nothing, operation, pageOf } from '../../http/operation.ts'
import { forbidden } from '../../http/problems.ts'
import {
  TriggerToken,
  presentTriggerToken as present,
  type TriggerTokenWithOwner,
} from '../../records/pipelines/trigger_token.ts'
import * as triggerTokens from './store.ts'
import { presentPage } from '../../http/answers/pages.ts'

export { createTriggeredPipeline, createTriggeredPipelineOnRef } from './pipeline_operations.ts'

const PREFIX = 'glptt-'

const triggerToken = loads({
  param: 'trigger_id',
  type: t.Integer(),
  as: 'triggerToken',
  says: 'a trigger token of the project',
  find: ({ db, project }: Has<{ project: Project }>, id) => triggerTokens.find(db, project.id, id),
})

const ownTriggerToken = allows({
  says: 'the owner of the token',
  refuses: () => forbidden('The current user is not authorized to update the pipeline trigger token'),
  holds: ({ actor, triggerToken }: Has<{ actor: Actor; triggerToken: TriggerTokenWithOwner }>) =>
    triggerToken.owner_id === actor.id,
})

export const listTriggerTokens = operation({
  method: 'GET',
  path: '/projects/:id/triggers',
  summary: 'List the trigger tokens of a project',
  first: [signedIn],
  gates: [project, maintainer],
  handle: async (ctx) => {
    const found = await triggerTokens.list(ctx.db, ctx.project.id, ctx.page)
    return presentPage(found, (row) => present(row, ctx))
  },
  returns: pageOf(TriggerToken),
})

export const getTriggerToken = operation({
  method: 'GET',
  path: '/projects/:id/triggers/:trigger_id',
  summary: 'Get a trigger token of a project',
  first: [signedIn],
  gates: [project, maintainer, triggerToken],
  handle: async (ctx) => present(ctx.triggerToken, ctx),
  returns: TriggerToken,
})

export const createTriggerToken = operation({
  method: 'POST',
  path: '/projects/:id/triggers',
  summary: 'Create a trigger token',
  first: [signedIn],
  params: t.Object({ description: t.String({ maxLength: 1_024 }) }),
  gates: [project, maintainer],
  handle: async (ctx) => {
    const { db, actor, project, params, vault } = ctx
    const token = PREFIX + randomBytes(20).toString('hex')
    const row = await triggerTokens.insert(db, {
      project_id: project.id,
      owner_id: actor.id,
      description: params.description,
      digest: digestOf(token),
      sealed: vault.seal(token),
    })
    return present(row, ctx)
  },
  returns: TriggerToken,
})

export const updateTriggerToken = operation({
  method: 'PUT',
  path: '/projects/:id/triggers/:trigger_id',
  summary: 'Change the description of a trigger token',
  first: [signedIn],
  params: t.Object({ description: t.Optional(t.String({ maxLength: 1_024 })) }),
  gates: [project, maintainer, triggerToken, ownTriggerToken],
  handle: async (ctx) => {
    const { db, project, params, triggerToken } = ctx
    if (params.description === undefined) return present(triggerToken, ctx)
    const change = { project_id: project.id, id: triggerToken.id, description: params.description }
    const row = await triggerTokens.update(db, change)
    return present(row, ctx)
  },
  returns: TriggerToken,
})

export const deleteTriggerToken = operation({
  method: 'DELETE',
  path: '/projects/:id/triggers/:trigger_id',
  summary: 'Delete a trigger token',
  published: true,
  first: [signedIn],
  gates: [project, maintainer, triggerToken],
  handle: async ({ db, project, triggerToken }) => {
    await triggerTokens.remove(db, project.id, triggerToken.id)
    return null
  },
  returns: nothing,
})
