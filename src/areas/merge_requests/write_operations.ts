import { Type as t, type Static } from 'typebox'
import { ofMergeRequest } from '../../access/conversation_records.ts'
import { project, projectOwner, signedIn } from '../../access/gates/gates.ts'
import { mergeRequest } from '../../access/gates/noteable_gates.ts'
import { dropHead } from '../../core/merge_requests/comparing.ts'
import { hearDescription } from '../../core/conversation/mentions.ts'
import { changeMergeRequest, type MergeRequestChange } from '../../core/merge_requests/changes.ts'
import { dropMergeRequestHead } from '../../core/merge_requests/moves.ts'
import { findTwin, whyNotInto } from '../../core/merge_requests/writes.ts'
import { applyQuickActions, placeOf } from '../../core/quick_actions/apply.ts'
import { repositoryPath, type Project } from '../../core/places/projects.ts'
import { readTargetBranches, type TargetBranches } from '../../core/merge_requests/target_branches.ts'
import { violates } from '../../db/errors.ts'
import type { MergeRequest as Row } from '../../db/schema/planning.ts'
import { enqueue } from '../../jobs/job.ts'
import type { Actor, Has } from '../../http/gate.ts'
import { LONG_TEXT, nothing, operation } from '../../http/operation.ts'
import { invalid } from '../../http/problems.ts'
import { listOf, oneOf } from '../../http/params/schema.ts'
import { MergeRequestDetail } from '../../records/merge_requests/merge_request_detail.ts'
import { changesIt, manages } from './gates.ts'
import { findProject, removeMergeRequest } from './store.ts'
import {
  anotherOne,
  answerWith,
  checkLabels,
  checkTitle,
  collaborates,
  common,
  managed,
  noSuchBranch,
  sameBranch,
  type Here,
} from './write_params.ts'

// prettier-ignore
const CHANGEABLE = [
  'assignee_id', 'assignee_ids', 'reviewer_ids', 'description', 'labels', 'add_labels', 'remove_labels',
  'milestone_id', 'remove_source_branch', 'allow_collaboration', 'allow_maintainer_to_push', 'squash',
  'target_branch', 'title', 'discussion_locked', 'state_event',
]
const changes = t.Object(
  {
    ...common,
    title: t.Optional(t.String()),
    add_labels: t.Optional(listOf(t.String())),
    remove_labels: t.Optional(listOf(t.String())),
    target_branch: t.Optional(t.String({ minLength: 1 })),
    discussion_locked: t.Optional(t.Boolean()),
    state_event: t.Optional(oneOf(['close', 'reopen'])),
  },
  { atLeastOne: CHANGEABLE },
)

export const updateMergeRequest = operation({
  method: 'PUT',
  path: '/projects/:id/merge_requests/:merge_request_iid',
  summary: 'Change a merge request',
  published: true,
  moves: 'rows',
  takes: LONG_TEXT,
  params: changes,
  gates: [project, signedIn, mergeRequest, changesIt],
  handle: async (ctx) => {
    const { git, mergeRequest, params } = ctx
    checkTitle(params.title)
    checkLabels(params)
    await checkTarget(ctx, params.target_branch)
    const text = params.description ?? ''
    const { target_branch, state_event } = params
    const wanted = { text, target_branch, reopens: state_event === 'reopen' }
    const branches = await readTargetBranches(git, mergeRequest, wanted)
    return ctx.transact(ctx, (ctx) => change(ctx, branches))
  },
  returns: MergeRequestDetail,
  refuses: [
    invalid({ title: ["can't be blank"] }),
    sameBranch,
    noSuchBranch('Target', 'main'),
    anotherOne(1),
  ],
})

type Ctx = Has<{ project: Project; actor: Actor; mergeRequest: Row; params: Static<typeof changes> }>

/** Changes it in one transaction. */
async function change(ctx: Ctx, branches: TargetBranches): Promise<Static<typeof MergeRequestDetail>> {
  const { db, project, actor, mergeRequest, params, now } = ctx
  const about = ofMergeRequest(mergeRequest)
  const another = (error: unknown): never => {
    // Another came between the look and the write; which, the broken transaction cannot tell.
    throw violates(error, 'merge_requests_open_key') ? anotherOne(mergeRequest.iid) : error
  }
  const speaker = { db, actor, now, branches }
  const { text } = await applyQuickActions(speaker, about, placeOf(project), params.description ?? '').catch(
    another,
  )
  const change: MergeRequestChange = {
    title: params.title?.trim(),
    description: params.description && text,
    state: params.state_event && (params.state_event === 'close' ? 'closed' : 'opened'),
    target_branch: params.target_branch,
    squash: params.squash,
    remove_source_branch: params.remove_source_branch,
    allow_collaboration: await collaboration(ctx, collaborates(params)),
    ...(manages(actor, project) && {
      ...managed(params),
      add_labels: params.add_labels,
      remove_labels: params.remove_labels,
      discussion_locked: params.discussion_locked,
    }),
  }
  const reopens = change.state === 'opened' && mergeRequest.state === 'closed'
  if (reopens || change.target_branch !== undefined) {
    const target_branch = change.target_branch ?? mergeRequest.target_branch
    const { project_id, source_project_id, source_branch } = mergeRequest
    const twin = await findTwin(db, {
      project_id,
      source_project_id: source_project_id ?? 0,
      source_branch,
      target_branch,
    })
    if (twin !== undefined && twin !== mergeRequest.iid) throw anotherOne(twin)
  }
  await changeMergeRequest({ db, actor, project, now, branches }, mergeRequest.id, change).catch(another)
  await hearDescription({ db, actor, about, project }, change.description, mergeRequest.description)
  return answerWith(ctx, db, mergeRequest)
}

/** That its branch is open is for who may push there to say; what others say of it is passed over, as published. */
async function collaboration(
  { db, actor, mergeRequest }: Here & { readonly mergeRequest: Row },
  wanted: boolean | undefined,
): Promise<boolean | undefined> {
  const { project_id, source_project_id } = mergeRequest
  if (wanted === undefined || source_project_id === null || source_project_id === project_id) return undefined
  const source = await findProject(db, source_project_id, actor.id)
  return source && manages(actor, source) ? wanted : undefined
}

async function checkTarget(
  { git, mergeRequest }: Here & { readonly mergeRequest: Row },
  branch: string | undefined,
): Promise<void> {
  if (branch === undefined || branch === mergeRequest.target_branch) return
  const why = await whyNotInto(git, mergeRequest, branch)
  if (why === 'same') throw sameBranch()
  if (why === 'missing') throw noSuchBranch('Target', branch)
}

export const deleteMergeRequest = operation({
  method: 'DELETE',
  path: '/projects/:id/merge_requests/:merge_request_iid',
  summary: 'Delete a merge request',
  published: true,
  moves: 'rows',
  gates: [project, signedIn, projectOwner, mergeRequest],
  handle: async (ctx) => {
    const { git, project, mergeRequest } = ctx
    const { iid } = mergeRequest
    await ctx.transact(ctx, async ({ db }) => {
      await removeMergeRequest(db, project.id, mergeRequest.id)
      await enqueue(db, dropMergeRequestHead, { project_id: project.id, iid })
    })
    await dropHead(git.repository(repositoryPath(project.id)), iid)
    return null
  },
  returns: nothing,
})
