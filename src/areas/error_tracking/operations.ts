import { Type as t } from 'typebox'
import { flag } from '../../access/flags.ts'
import { maintainer, project, signedIn } from '../../access/gates/gates.ts'
import type { Project } from '../../core/places/projects.ts'
import * as clientKeys from '../../errors/client_keys.ts'
import * as errorSettings from '../../errors/settings.ts'
import { loads, type Gate, type Has } from '../../http/gate.ts'
import { operation, pageOf } from '../../http/operation.ts'
import { notFound } from '../../http/problems.ts'
import type { ErrorTrackingSetting } from '../../db/schema/errors.ts'
import { ErrorTrackingClientKeySchema, ErrorTrackingSettings, presentKey, presentSettings } from './entity.ts'

export { createErrorEnvelope, createErrorEvent } from './collector_operations.ts'

/** The project's settings, which are absent until a PUT makes them. */
const configured: Gate<'checks', never, { project: Project }, { setting: ErrorTrackingSetting }> = {
  kind: 'checks',
  says: 'a project whose error tracking was configured',
  refuses: () => notFound('Error Tracking Setting'),
  pass: async ({ db, project }) => {
    const setting = await errorSettings.find(db, project.id)
    return setting && { setting }
  },
}

const clientKey = loads({
  param: 'key_id',
  type: t.Integer(),
  as: 'clientKey',
  says: 'a client key of the project',
  find: ({ db, project }: Has<{ project: Project }>, id) => clientKeys.find(db, project.id, id),
})

/** A boolean for which an empty text is a fault of its own. */
const answered = { minLength: 1 }

export const getErrorTrackingSettings = operation({
  method: 'GET',
  path: '/projects/:id/error_tracking/settings',
  summary: 'Get the error tracking settings of a project',
  first: [signedIn],
  gates: [project, maintainer, configured],
  handle: async (ctx) => presentSettings(ctx.setting, ctx),
  returns: ErrorTrackingSettings,
})

export const createErrorTrackingSettings = operation({
  method: 'PUT',
  path: '/projects/:id/error_tracking/settings',
  summary: 'Configure integrated error tracking, whether it was configured before or not',
  first: [signedIn, flag('integrated_error_tracking')],
  params: t.Object({ active: t.Boolean(answered), integrated: t.Boolean(answered) }),
  gates: [project, maintainer],
  handle: async (ctx) => {
    const { db, project, params } = ctx
    return presentSettings(await errorSettings.save(db, { project_id: project.id, ...params }), ctx)
  },
  returns: ErrorTrackingSettings,
})

export const updateErrorTrackingSettings = operation({
  method: 'PATCH',
  path: '/projects/:id/error_tracking/settings',
  summary: 'Switch the configured error tracking of a project on or off',
  first: [signedIn],
  params: t.Object({ active: t.Boolean(answered), integrated: t.Optional(t.Boolean(answered)) }),
  gates: [project, maintainer, configured],
  handle: async (ctx) => {
    const { db, project, params, setting } = ctx
    const { active, integrated = setting.integrated } = params
    return presentSettings(await errorSettings.save(db, { project_id: project.id, active, integrated }), ctx)
  },
  returns: ErrorTrackingSettings,
})

export const listErrorTrackingClientKeys = operation({
  method: 'GET',
  path: '/projects/:id/error_tracking/client_keys',
  summary: 'List the client keys of a project',
  first: [signedIn],
  gates: [project, maintainer],
  handle: async (ctx) => {
    const found = await clientKeys.list(ctx.db, ctx.project.id, ctx.page)
    return { ...found, items: found.items.map((row) => presentKey(row, ctx)) }
  },
  returns: pageOf(ErrorTrackingClientKeySchema),
})

export const createErrorTrackingClientKey = operation({
  method: 'POST',
  path: '/projects/:id/error_tracking/client_keys',
  summary: 'Create a client key for SDKs',
  published: true,
  first: [signedIn],
  gates: [project, maintainer],
  handle: async (ctx) => presentKey(await clientKeys.create(ctx, ctx.project.id), ctx),
  returns: ErrorTrackingClientKeySchema,
})

export const deleteErrorTrackingClientKey = operation({
  method: 'DELETE',
  path: '/projects/:id/error_tracking/client_keys/:key_id',
  summary: 'Delete a client key',
  published: true,
  first: [signedIn],
  gates: [project, maintainer, clientKey],
  handle: async (ctx) => {
    await clientKeys.remove(ctx.db, ctx.project.id, ctx.clientKey.id)
    return presentKey(ctx.clientKey, ctx)
  },
  returns: ErrorTrackingClientKeySchema,
})
