import { Type as t } from 'typebox'
import { project, signedIn } from '../../../access/gates/gates.ts'
import { mergeRequest } from '../../../access/gates/noteable_gates.ts'
import { cancelAutoMerge } from '../../../core/merge_requests/auto_merges.ts'
import { operation } from '../../../http/operation.ts'
import { cancelsMerge } from '../gates.ts'

export const cancelAutomaticMerge = operation({
  method: 'POST',
  path: '/projects/:id/merge_requests/:merge_request_iid/cancel_merge_when_pipeline_succeeds',
  summary: 'Cancel the automatic merge of a merge request',
  published: true,
  gates: [project, signedIn, mergeRequest, cancelsMerge],
  handle: async ({ db, actor, mergeRequest }) => {
    const canceled = await cancelAutoMerge(db, { id: mergeRequest.id, user_id: actor.id })
    // A refusal under a success, as published.
    return canceled
      ? { status: 'success' }
      : { status: 'error', message: "Can't cancel the automatic merge", http_status: 406 }
  },
  returns: t.Object({
    status: t.String(),
    message: t.Optional(t.String()),
    http_status: t.Optional(t.Integer()),
  }),
})
