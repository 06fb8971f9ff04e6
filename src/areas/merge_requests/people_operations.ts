import { Type as t } from 'typebox'
import { anyone, project, signedIn } from '../../access/gates/gates.ts'
import { mergeRequest } from '../../access/gates/noteable_gates.ts'
import type { Project } from '../../core/places/projects.ts'
import type { MergeRequest as Row } from '../../db/schema/planning.ts'
import type { Actor, Has } from '../../http/gate.ts'
import { Answer, operation } from '../../http/operation.ts'
import { timestamp } from '../../http/params/schema.ts'
import { MergeRequestDetail } from '../../records/merge_requests/merge_request_detail.ts'
import { UserBasic, presentUser } from '../../records/people/user.ts'
import { comparedIn } from './gates.ts'
import { presentToCaller } from './showing.ts'
import { participantsOf, reviewersOf, setSubscribed, showMergeRequest } from './store.ts'

export const listMergeRequestParticipants = operation({
  method: 'GET',
  path: '/projects/:id/merge_requests/:merge_request_iid/participants',
  summary: 'List the participants of a merge request',
  published: true,
  gates: [project, anyone, mergeRequest],
  handle: async (ctx) =>
    (await participantsOf(ctx.db, ctx.mergeRequest.id)).map((user) => presentUser(user, ctx)),
  returns: t.Array(UserBasic),
})

export const listMergeRequestReviewers = operation({
  method: 'GET',
  path: '/projects/:id/merge_requests/:merge_request_iid/reviewers',
  summary: 'List the reviewers of a merge request',
  published: true,
  gates: [project, anyone, mergeRequest],
  handle: async (ctx) =>
    (await reviewersOf(ctx.db, ctx.mergeRequest.id)).map(({ user, state, created_at }) => ({
      user: presentUser(user, ctx),
      state,
      created_at: new Date(created_at).toISOString(),
    })),
  returns: t.Array(t.Object({ user: UserBasic, state: t.String(), created_at: timestamp() })),
})

type Here = Has<{ project: Project; mergeRequest: Row; actor: Actor }>

/** 304 for what is so already, as published. */
async function subscribe(ctx: Here, subscribed: boolean): Promise<Answer> {
  const { db, actor, mergeRequest } = ctx
  const who = { id: mergeRequest.id, user_id: actor.id }
  const before = await showMergeRequest(db, who)
  if (before.subscribed === subscribed) return new Answer(304)
  await setSubscribed(db, { ...who, subscribed })
  const row = await showMergeRequest(db, who)
  return new Answer(201, await presentToCaller(ctx, row))
}

const gates = [project, signedIn, mergeRequest, comparedIn] as const

export const subscribeToMergeRequest = operation({
  method: 'POST',
  path: '/projects/:id/merge_requests/:merge_request_iid/subscribe',
  summary: 'Subscribe to a merge request',
  published: true,
  gates,
  handle: (ctx) => subscribe(ctx, true),
  returns: MergeRequestDetail,
  also: { 304: null },
})

export const unsubscribeFromMergeRequest = operation({
  method: 'POST',
  path: '/projects/:id/merge_requests/:merge_request_iid/unsubscribe',
  summary: 'Unsubscribe from a merge request',
  published: true,
  gates,
  handle: (ctx) => subscribe(ctx, false),
  returns: MergeRequestDetail,
  also: { 304: null },
})
