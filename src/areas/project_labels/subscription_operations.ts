import { project, signedIn } from '../../access/gates/gates.ts'
import * as subscriptions from '../../core/planning/label_subscriptions.ts'
import { Answer, operation } from '../../http/operation.ts'
import { ProjectLabel, presentInProject } from '../../records/planning/label.ts'
import { labelOfLine } from './gates.ts'
import { forCaller } from './store.ts'

export const subscribeToProjectLabel = operation({
  method: 'POST',
  path: '/projects/:id/labels/:label_id/subscribe',
  summary: 'Subscribe to a label of a project',
  published: true,
  first: [signedIn],
  gates: [project, labelOfLine],
  handle: async (ctx) =>
    (await subscriptions.subscribe(ctx.db, ctx.label.id, ctx.actor.id))
      ? presentInProject(await forCaller(ctx.db, ctx, ctx.label.id))
      : new Answer(304),
  returns: ProjectLabel,
  also: { 304: null },
})

export const unsubscribeFromProjectLabel = operation({
  method: 'POST',
  path: '/projects/:id/labels/:label_id/unsubscribe',
  summary: 'Unsubscribe from a label of a project',
  published: true,
  first: [signedIn],
  gates: [project, labelOfLine],
  handle: async (ctx) =>
    (await subscriptions.unsubscribe(ctx.db, ctx.label.id, ctx.actor.id))
      ? presentInProject(await forCaller(ctx.db, ctx, ctx.label.id))
      : new Answer(304),
  returns: ProjectLabel,
  also: { 304: null },
})
