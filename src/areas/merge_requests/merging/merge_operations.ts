import { Type as t, type Static } from 'typebox'
import { MAX_MESSAGE_BYTES } from '../../../git/objects/commit.ts'
import { project, signedIn } from '../../../access/gates/gates.ts'
import { mergeRequest } from '../../../access/gates/noteable_gates.ts'
import { closedBy } from '../../../core/planning/closing_references.ts'
import { messageOr } from '../../../core/repositories/commit_messages.ts'
import { messagesOf } from '../../../core/merge_requests/comparing.ts'
import { MergeRefused, mergeRequest as mergeBranches } from '../../../core/pushes/merging.ts'
import { pushRules } from '../../../core/repositories/protected_branches.ts'
import type { Project } from '../../../core/places/projects.ts'
import type { Db } from '../../../db/db.ts'
import { isGitError } from '../../../git/errors.ts'
import type { Actor, Has } from '../../../http/gate.ts'
import { operation } from '../../../http/operation.ts'
import { rejected, unprocessable, type Problem } from '../../../http/problems.ts'
import { mergeStatusOf, type MergeRequestShown } from '../../../records/merge_requests/merge_request.ts'
import { MergeRequestDetail } from '../../../records/merge_requests/merge_request_detail.ts'
import { waitForPipeline } from './auto_merging.ts'
import { merges, comparedIn } from '../gates.ts'
import { withLiveStatus } from '../live_status.ts'
import { mergeMessage, methodOf, otherHead, squashes } from '../rules.ts'
import { presentToCaller } from '../showing.ts'
import { authorOf, showMergeRequest } from '../store.ts'

const notAllowed = (): Problem => rejected('405 Method Not Allowed')
const cannotBeMerged = (): Problem => unprocessable('Branch cannot be merged')

/** States that say by themselves that nothing can be merged now. */
const CLOSED_TO_MERGES = new Set(['not_open', 'draft_status', 'commits_status', 'discussions_not_resolved'])
const AWAITS_PIPELINE = new Set(['ci_must_pass', 'ci_still_running'])
const message = t.Optional(t.String({ maxBytes: MAX_MESSAGE_BYTES }))

const waits = t.Optional(
  t.Boolean({
    description: 'Waits for the head pipeline where it is unfinished, and merges when it succeeds',
  }),
)

export const mergeMergeRequest = operation({
  method: 'PUT',
  path: '/projects/:id/merge_requests/:merge_request_iid/merge',
  summary: 'Merge a merge request',
  published: true,
  moves: 'refs',
  params: t.Object({
    merge_commit_message: message,
    squash_commit_message: message,
    squash: t.Optional(t.Boolean()),
    should_remove_source_branch: t.Optional(t.Boolean()),
    sha: t.Optional(t.String({ description: 'What the source branch must hold' })),
    merge_when_pipeline_succeeds: waits,
    auto_merge: waits,
  }),
  gates: [project, signedIn, mergeRequest, merges, comparedIn],
  handle: async (ctx) => {
    const { db, actor, project, mergeRequest, params } = ctx
    const row = await withLiveStatus(
      ctx,
      await showMergeRequest(db, { id: mergeRequest.id, user_id: actor.id }),
    )
    const status = mergeStatusOf(row)
    if (CLOSED_TO_MERGES.has(status)) throw notAllowed()
    if (status === 'conflict' || status === 'need_rebase') throw cannotBeMerged()
    const afterChecks = params.auto_merge ?? params.merge_when_pipeline_succeeds ?? false
    if (afterChecks && (await waitForPipeline(ctx, row, params))) return answer(ctx, row.id)
    if (AWAITS_PIPELINE.has(status)) throw notAllowed()
    const closes = project.default_branch === row.target_branch ? await closedByIt(ctx, row) : []
    const wantsRemoval = params.should_remove_source_branch ?? row.remove_source_branch
    await mergeBranches(ctx, {
      method: methodOf(project),
      sha: params.sha,
      afterChecks,
      squash: squashes(project, params.squash ?? row.squash),
      message: messageOr(params.merge_commit_message, mergeMessage(row, project, closes)),
      squashMessage: messageOr(params.squash_commit_message, row.title),
      author: await authorOf(db, row.author_id),
      removesSource: wantsRemoval && (await mayRemove(db, project, row)),
    }).catch((error: unknown) => {
      throw refusalOf(error)
    })
    return answer(ctx, row.id)
  },
  returns: MergeRequestDetail,
  refuses: [notAllowed, cannotBeMerged, otherHead('0'.repeat(40))],
})

async function answer(
  ctx: Has<{ project: Project; actor: Actor }>,
  id: number,
): Promise<Static<typeof MergeRequestDetail>> {
  return presentToCaller(ctx, await showMergeRequest(ctx.db, { id, user_id: ctx.actor.id }))
}

function refusalOf(error: unknown): unknown {
  // Others moved the branch, again and again.
  if (isGitError(error, 'moved')) return cannotBeMerged()
  if (!(error instanceof MergeRefused)) return error
  if (error.why === 'moved') return otherHead(error.head)
  return error.why === 'conflict' ? cannotBeMerged() : notAllowed()
}

type Here = Parameters<typeof withLiveStatus>[0]

async function closedByIt({ repository }: Here, row: MergeRequestShown): Promise<number[]> {
  const { head_sha, diff } = row
  const messages = await messagesOf(repository, { head_sha, base_sha: diff?.base_sha ?? null })
  return closedBy([row.description ?? '', ...messages])
}

/** Protected branches stay, and the default branch. */
async function mayRemove(db: Db, project: Project, row: MergeRequestShown): Promise<boolean> {
  if (row.source_project_id !== project.id || row.source_branch === project.default_branch) return false
  return (await pushRules(db, project))(row.source_branch) === undefined
}
