import { Type as t, type Static } from 'typebox'
import { anyone, developer, project, signedIn } from '../../../access/gates/gates.ts'
import { mergeRequest } from '../../../access/gates/noteable_gates.ts'
import { approve, isEligible, unapprove } from '../../../core/merge_requests/approvals.ts'
import type { Project } from '../../../core/places/projects.ts'
import type { MergeRequest as Row } from '../../../db/schema/planning.ts'
import type { Actor, Has } from '../../../http/gate.ts'
import { operation } from '../../../http/operation.ts'
import { conflict, noSuchRecord, unauthorized, type Problem } from '../../../http/problems.ts'
import { nullable, moment } from '../../../http/params/schema.ts'
import { UserBasic, presentUser } from '../../../records/people/user.ts'
import { approvalsOf } from './store.ts'
import { manages } from '../gates.ts'

const Approvals = t.Object({
  id: t.Integer(),
  iid: t.Integer(),
  project_id: t.Integer(),
  title: t.String(),
  description: nullable(t.String()),
  state: t.String(),
  created_at: moment(),
  updated_at: moment(),
  merge_status: t.String(),
  approved: t.Boolean(),
  approvals_required: t.Integer(),
  approvals_left: t.Integer(),
  approved_by: t.Array(t.Object({ user: UserBasic, approved_at: moment() })),
  suggested_approvers: t.Array(UserBasic),
  user_has_approved: t.Boolean(),
  user_can_approve: t.Boolean(),
})

type Here = Has<{ project: Project; mergeRequest: Row }> & { readonly actor: Actor | null }

async function present(ctx: Here): Promise<Static<typeof Approvals>> {
  const { db, actor, project, mergeRequest: row } = ctx
  const approvals = await approvalsOf(db, row.id)
  const approved = approvals.some(({ user }) => user.id === actor?.id)
  return {
    id: row.id,
    iid: row.iid,
    project_id: row.project_id,
    title: row.title,
    description: row.description,
    state: row.state,
    created_at: row.created_at,
    updated_at: row.updated_at,
    merge_status: row.merge_status === 'broken' ? 'cannot_be_merged' : row.merge_status,
    // No approval is required here, so that an unreviewed merge request counts as approved, as published.
    approved: true,
    approvals_required: 0,
    approvals_left: 0,
    approved_by: approvals.map(({ user, approved_at }) => ({
      user: presentUser(user, ctx),
      approved_at: approved_at,
    })),
    suggested_approvers: [],
    user_has_approved: approved,
    user_can_approve:
      actor !== null &&
      !approved &&
      row.state === 'opened' &&
      manages(actor, project) &&
      (await isEligible(db, { id: row.id, user_id: actor.id })),
  }
}

export const getMergeRequestApprovals = operation({
  method: 'GET',
  path: '/projects/:id/merge_requests/:merge_request_iid/approvals',
  summary: 'Get the approvals of a merge request',
  published: true,
  gates: [project, anyone, mergeRequest],
  handle: (ctx) => present(ctx),
  returns: Approvals,
})

const otherHead = (head: string): Problem => conflict(`SHA does not match HEAD of source branch: ${head}`)

export const approveMergeRequest = operation({
  method: 'POST',
  path: '/projects/:id/merge_requests/:merge_request_iid/approve',
  summary: 'Approve a merge request',
  published: true,
  params: t.Object({
    sha: t.Optional(t.String({ description: 'What was looked at: what the source branch must hold' })),
  }),
  gates: [project, signedIn, developer, mergeRequest],
  handle: async (ctx) => {
    const { db, actor, mergeRequest, params } = ctx
    if (params.sha !== undefined && params.sha !== mergeRequest.head_sha)
      throw otherHead(mergeRequest.head_sha ?? '')
    const isOpen = mergeRequest.state === 'opened'
    if (!isOpen || !(await approve(db, mergeRequest, actor.id))) throw unauthorized()
    return present(ctx)
  },
  returns: Approvals,
  refuses: [unauthorized, otherHead('0'.repeat(40))],
})

export const unapproveMergeRequest = operation({
  method: 'POST',
  path: '/projects/:id/merge_requests/:merge_request_iid/unapprove',
  summary: 'Unapprove a merge request',
  published: true,
  gates: [project, signedIn, developer, mergeRequest],
  handle: async (ctx) => {
    const { db, actor, mergeRequest } = ctx
    if (!(await unapprove(db, mergeRequest, actor.id))) throw noSuchRecord()
    return present(ctx)
  },
  returns: Approvals,
  refuses: [noSuchRecord],
})
