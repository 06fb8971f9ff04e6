import { randomUUID } from 'node:crypto'
import { Type as t } from 'typebox'
import { administrator, signedIn } from '../../access/gates/gates.ts'
import { attemptDelivery } from '../../hooks/request.ts'
import { nothing, operation, pageOf } from '../../http/operation.ts'
import { badParams } from '../../http/problems.ts'
import { hook, refusals, urlParam } from './actions.ts'
import * as actions from './actions.ts'
import { SystemHook, flagParams, hookParams } from './entity.ts'
import { ofInstance } from './gates.ts'
import * as hooks from './store.ts'

const common = { published: true, first: [signedIn, administrator] } as const

export const listSystemHooks = operation({
  method: 'GET',
  path: '/hooks',
  summary: 'List the webhooks of the instance',
  ...common,
  gates: [ofInstance],
  handle: actions.list,
  returns: pageOf(SystemHook),
})

export const getSystemHook = operation({
  method: 'GET',
  path: '/hooks/:hook_id',
  summary: 'Get a webhook of the instance',
  ...common,
  gates: [ofInstance, hook],
  handle: actions.show,
  returns: SystemHook,
})

export const createSystemHook = operation({
  method: 'POST',
  path: '/hooks',
  summary: 'Add a webhook to the instance',
  ...common,
  moves: 'rows',
  params: t.Object({ url: urlParam, ...hookParams, ...flagParams('system') }),
  gates: [ofInstance],
  handle: actions.create,
  returns: SystemHook,
  refuses: refusals,
})

export const updateSystemHook = operation({
  method: 'PUT',
  path: '/hooks/:hook_id',
  summary: 'Change a webhook of the instance',
  ...common,
  moves: 'rows',
  params: t.Object({ url: t.Optional(urlParam), ...hookParams, ...flagParams('system') }),
  gates: [ofInstance, hook],
  handle: actions.change,
  returns: SystemHook,
  refuses: [...refusals, badParams(['No parameters provided'])],
})

export const deleteSystemHook = operation({
  method: 'DELETE',
  path: '/hooks/:hook_id',
  summary: 'Delete a webhook of the instance with its deliveries',
  ...common,
  moves: 'rows',
  gates: [ofInstance, hook],
  handle: actions.remove,
  returns: nothing,
})

const Sample = t.Object({
  project_id: t.Integer(),
  owner_email: t.String(),
  owner_name: t.String(),
  name: t.String(),
  path: t.String(),
  event_name: t.String(),
})
/** The published sample of a test. */
const SAMPLE = {
  project_id: 1,
  owner_email: 'example@example.com',
  owner_name: 'Someone',
  name: 'Ruby',
  path: 'ruby',
  event_name: 'project_create',
}

export const testSystemHook = operation({
  method: 'POST',
  path: '/hooks/:hook_id',
  summary: 'Send a webhook of the instance a sample',
  ...common,
  moves: 'upstream',
  gates: [ofInstance, hook],
  handle: async (ctx) => {
    const envelope = { trigger: 'system', idempotency_key: randomUUID(), event_uuid: randomUUID() }
    const body = JSON.stringify(SAMPLE)
    const attempt = await attemptDelivery(ctx, ctx.hook, envelope, body)
    const of = { hook_id: ctx.hook.id, asked_by: ctx.actor.id, body }
    await hooks.keepAsked(ctx.db, of, envelope, attempt)
    return SAMPLE
  },
  returns: Sample,
})
