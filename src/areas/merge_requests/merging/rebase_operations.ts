import { Type as t } from 'typebox'
import { project, signedIn } from '../../../access/gates/gates.ts'
import { mergeRequest } from '../../../access/gates/noteable_gates.ts'
import { pushRight } from '../../../access/gates/push_gates.ts'
import { repositoryPath, type Project } from '../../../core/places/projects.ts'
import { BranchGone, RebaseFailed, rebaseBranch } from '../../../core/pushes/rebasing.ts'
import type { MergeRequest as Row } from '../../../db/schema/planning.ts'
import type { Actor, Gate } from '../../../http/gate.ts'
import { Answer, operation } from '../../../http/operation.ts'
import { forbidden, rejected, type Problem } from '../../../http/problems.ts'
import { comparedIn } from '../gates.ts'
import { findProject, noteMergeError } from '../store.ts'

/** Gives the project of the source branch, which may be a fork, where the caller may replace what the branch holds. */
const rewrites: Gate<
  'allows',
  never,
  { project: Project; mergeRequest: Row },
  { actor: Actor; source: Project }
> = {
  kind: 'allows',
  says: 'the right to force-push to the source branch, in its fork where there is one',
  refuses: forbidden,
  pass: async (ctx) => {
    const { db, git, actor, project, mergeRequest } = ctx
    const { source_project_id, source_branch } = mergeRequest
    if (actor === null || project.archived || source_project_id === null) return undefined
    const source =
      source_project_id === project.id ? project : await findProject(db, source_project_id, actor.id)
    if (source === undefined || source.archived) return undefined
    const repository = git.repository(repositoryPath(source.id))
    const right = await pushRight(
      Object.assign({}, ctx, { actor, project: source, repository }),
      source_branch,
    )
    return right.pushes && right.rewrites ? { actor, source } : undefined
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
    const { source, repository: target, git } = ctx
    const repository = git.repository(repositoryPath(source.id))
    const failed = await rebaseBranch({ ...ctx, project: source, repository, target }).then(
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
