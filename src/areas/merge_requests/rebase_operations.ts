import { Type as t } from 'typebox'
import { project, signedIn } from '../../access/gates.ts'
import { mergeRequest } from '../../access/noteable_gates.ts'
import { mayPush, pushRules } from '../../core/protected_branches.ts'
import type { Project } from '../../core/projects.ts'
import { BranchGone, RebaseFailed, rebaseBranch } from '../../core/rebasing.ts'
import type { MergeRequest as Row } from '../../db/schema_planning.ts'
import type { Actor, Gate } from '../../http/gate.ts'
import { Answer, operation } from '../../http/operation.ts'
import { forbidden, rejected, type Problem } from '../../http/problems.ts'
import { comparedIn } from './gates.ts'
import { noteMergeError } from './store.ts'

/** Who may replace what the source branch holds; that of a fork is replaced there. */
const rewrites: Gate<'allows', never, { project: Project; mergeRequest: Row }, { actor: Actor }> = {
  kind: 'allows',
  says: 'whoever may push to the source branch of this project by force',
  refuses: forbidden,
  pass: async ({ db, actor, project, mergeRequest }) => {
    if (actor === null || project.archived || mergeRequest.source_project_id !== project.id) return undefined
    const holder = { id: actor.id, role: project.role, admin: actor.admin }
    if (!mayPush(undefined, holder)) return undefined
    const rule = (await pushRules(db, project))(mergeRequest.source_branch)
    return rule === undefined || (mayPush(rule, holder) && rule.allowForcePush) ? { actor } : undefined
  },
}

const notAllowed = (): Problem => rejected('405 Method Not Allowed')
const noBranch = (which: BranchGone['which'] = 'Source'): Problem =>
  forbidden(`${which} branch does not exist`)
const FAILED = 'Rebase failed: Rebase locally, resolve all conflicts, then push the branch.'

export const rebaseMergeRequest = operation({
  method: 'PUT',
  path: '/projects/:id/merge_requests/:merge_request_iid/rebase',
  summary: 'Rebase the source branch of a merge request onto its target; `merge_error` tells why that failed',
  published: true,
  moves: 'refs',
  params: t.Object({
    skip_ci: t.Optional(t.Boolean({ description: 'There are no pipelines to leave out' })),
  }),
  gates: [project, signedIn, mergeRequest, rewrites, comparedIn],
  handle: async (ctx) => {
    const { db, mergeRequest } = ctx
    if (mergeRequest.state !== 'opened') throw notAllowed()
    const failed = await rebaseBranch(ctx).then(
      () => false,
      (error: unknown) => {
        if (error instanceof RebaseFailed) return true
        throw error instanceof BranchGone ? noBranch(error.which) : error
      },
    )
    await noteMergeError(db, mergeRequest.id, failed ? FAILED : null)
    // It is over when this is read, and told as published: that it was begun.
    return new Answer(202, { rebase_in_progress: true })
  },
  returns: t.Object({ rebase_in_progress: t.Boolean() }),
  status: 202,
  refuses: [notAllowed, noBranch],
})
