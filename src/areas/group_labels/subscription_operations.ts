import { group, insideGroup, signedIn } from '../../access/gates/gates.ts'
import { Answer, operation } from '../../http/operation.ts'
import { GroupLabel, present } from '../../records/planning/label.ts'
import { labelOfLine } from './gates.ts'
import { forCaller } from './store.ts'
import * as subscriptions from '../../core/planning/label_subscriptions.ts'

export const subscribeToGroupLabel = operation({
  method: 'POST',
  path: '/groups/:id/labels/:label_id/subscribe',
  summary: 'Subscribe to a label of a group',
  published: true,
  first: [signedIn],
  gates: [group, insideGroup, labelOfLine],
  handle: async ({ db, actor, label }) =>
    (await subscriptions.subscribe(db, label.id, actor.id))
      ? present(await forCaller(db, actor, label))
      : new Answer(304),
  returns: GroupLabel,
  also: { 304: null },
})

export const unsubscribeFromGroupLabel = operation({
  method: 'POST',
  path: '/groups/:id/labels/:label_id/unsubscribe',
  summary: 'Unsubscribe from a label of a group',
  published: true,
  first: [signedIn],
  gates: [group, insideGroup, labelOfLine],
  handle: async ({ db, actor, label }) =>
    (await subscriptions.unsubscribe(db, label.id, actor.id))
      ? present(await forCaller(db, actor, label))
      : new Answer(304),
  returns: GroupLabel,
  also: { 304: null },
})
