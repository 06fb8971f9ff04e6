import { Type as t, type Static } from 'typebox'
import { developer, mayReadCode, project, projectOwner, signedIn } from '../../access/gates.ts'
import { mergeRequest } from '../../access/noteable_gates.ts'
import { nextInProject } from '../../core/counters.ts'
import { changeMergeRequest, type MergeRequestChange } from '../../core/merge_request_changes.ts'
import { compareBranches, followBranches, headOf, headRef, keepHead } from '../../core/merge_request_moves.ts'
import { noteCompared } from '../../core/merge_request_rows.ts'
import { findTwin, insertMergeRequest, type NewMergeRequest } from '../../core/merge_request_writes.ts'
import { hasFeature } from '../../core/project_features.ts'
import { repositoryPath, type Project } from '../../core/projects.ts'
import { ROLES, canSee } from '../../core/roles.ts'
import type { Db } from '../../db/client.ts'
import { violates } from '../../db/errors.ts'
import type { MergeRequest as Row } from '../../db/schema_planning.ts'
import type { Actor, Has } from '../../http/gate.ts'
import { nothing, operation } from '../../http/operation.ts'
import { Problem, forbidden, invalid, notFound, unprocessable } from '../../http/problems.ts'
import { listOf, nullable, oneOf } from '../../http/schema.ts'
import { MergeRequestDetail, presentMergeRequestDetail } from '../../records/merge_request.ts'
import { changesIt, isFork, manages, mayMergeIt, readsMergeRequests } from './gates.ts'
import { titleFaults } from './rules.ts'
import { findProject, removeMergeRequest, showMergeRequest } from './store.ts'

const HEADS = 'refs/heads/'
const description = t.Optional(nullable(t.String({ maxLength: 1_000_000 })))
const people = t.Optional(listOf(t.Integer()))
const common = {
  title: t.String(),
  description,
  assignee_id: t.Optional(nullable(t.Integer())),
  assignee_ids: people,
  reviewer_ids: people,
  labels: t.Optional(listOf(t.String())),
  milestone_id: t.Optional(nullable(t.Integer())),
  remove_source_branch: t.Optional(t.Boolean()),
  squash: t.Optional(t.Boolean()),
  allow_collaboration: t.Optional(t.Boolean()),
  allow_maintainer_to_push: t.Optional(t.Boolean()),
}
type Given = Partial<Static<ReturnType<typeof t.Object<typeof common>>>>

/** More users than this have no part in one. */
const MOST_PEOPLE = 200

/** 0 stands for nobody. */
const idsOf = (given: readonly number[] | undefined): number[] | undefined =>
  given?.filter((id) => id > 0).slice(0, MOST_PEOPLE)

/** What only who manages merge requests may say of one; what others say of it is passed over, as published. */
const managed = (given: Given): MergeRequestChange => ({
  assignee_ids: idsOf(
    given.assignee_ids ?? (given.assignee_id === undefined ? undefined : [given.assignee_id ?? 0]),
  ),
  reviewer_ids: idsOf(given.reviewer_ids),
  labels: given.labels,
  milestone_id: given.milestone_id === 0 ? null : given.milestone_id,
})

const checkTitle = (title: string | undefined): void => {
  const faults = title === undefined ? [] : titleFaults(title)
  if (faults.length > 0) throw invalid({ title: faults })
}

const sameBranch = (): Problem => unprocessable(["You can't use same project/branch for source and target"])
const noSuchBranch = (which: 'Source' | 'Target', branch: string): Problem =>
  unprocessable([`${which} branch "${branch}" does not exist`])
const noFork = (): Problem => unprocessable(['Source project is not a fork of the target project'])
const anotherOne = (iid: number): Problem =>
  new Problem(409, { message: [`Another open merge request already exists for this source branch: !${iid}`] })

/** What the database refuses because another request has the same branches. */
async function twinOf(db: Db, error: unknown, row: NewMergeRequest | Row): Promise<unknown> {
  if (!violates(error, 'merge_requests_open_key')) return error
  const { project_id, source_project_id, source_branch, target_branch } = row
  const iid = await findTwin(db, {
    project_id,
    source_project_id: source_project_id ?? 0,
    source_branch,
    target_branch,
  })
  return anotherOne(iid ?? 0)
}

type Here = Has<{ project: Project; actor: Actor }>

async function answerWith(ctx: Here, db: Db, mergeRequest: Row): Promise<Static<typeof MergeRequestDetail>> {
  const row = await showMergeRequest(db, { id: mergeRequest.id, user_id: ctx.actor.id })
  return presentMergeRequestDetail(row, ctx, { canMerge: await mayMergeIt({ ...ctx, mergeRequest: row }) })
}

/** Where the branch is to be merged: here, or what this project was forked from or into. */
async function targetOf({ db, actor, project }: Here, id: number | undefined): Promise<Project> {
  if (id === undefined || id === project.id) return project
  const found = await findProject(db, id, actor.id)
  if (found === undefined || !canSee(actor, found.visibility, found.role, ROLES.guest))
    throw notFound('Project')
  if (!mayReadCode(actor, found) || !hasFeature(actor, found, 'merge_requests') || found.archived)
    throw forbidden()
  if (!isFork(project, found)) throw noFork()
  return found
}

export const createMergeRequest = operation({
  method: 'POST',
  path: '/projects/:id/merge_requests',
  summary: 'Create a merge request',
  published: true,
  moves: 'refs',
  params: t.Object({
    source_branch: t.String(),
    target_branch: t.String(),
    target_project_id: t.Optional(t.Integer()),
    ...common,
  }),
  gates: [project, signedIn, readsMergeRequests, developer],
  handle: async (ctx) => {
    const { db, git, actor, params, now } = ctx
    const { source_branch, target_branch } = params
    checkTitle(params.title)
    const project = await targetOf(ctx, params.target_project_id)
    if (project.id === ctx.project.id && source_branch === target_branch) throw sameBranch()
    const repository = git.repository(repositoryPath(project.id))
    const ends = { project_id: project.id, source_project_id: ctx.project.id, source_branch, target_branch }
    const head = await headOf(git, ends)
    if (head === undefined) throw noSuchBranch('Source', source_branch)
    const compared = await compareBranches(repository, { head, target_branch })
    if (compared === undefined) throw noSuchBranch('Target', target_branch)
    const values = {
      ...ends,
      author_id: actor.id,
      title: params.title.trim(),
      description: params.description ?? null,
      squash: params.squash ?? false,
      remove_source_branch: params.remove_source_branch ?? false,
    }
    const change = manages(actor, project) ? managed(params) : {}
    const made = await db
      .transaction(async (tx) => {
        const iid = await nextInProject(tx, project.id, 'merge_requests')
        const row = await insertMergeRequest(tx, { ...values, iid })
        await noteCompared(tx, row.id, compared)
        await changeMergeRequest({ db: tx, git, actor, project, now, quiet: true }, row.id, change)
        await keepHead(repository, iid, head)
        return row
      })
      .catch(async (error: unknown) => {
        throw await twinOf(db, error, { ...values, iid: 0 })
      })
    // A branch that moved meanwhile moved unheard.
    await followBranches(ctx, ctx.project, [source_branch])
    return answerWith(Object.assign(ctx, { project }), db, made)
  },
  returns: MergeRequestDetail,
  refuses: [
    sameBranch,
    () => noSuchBranch('Source', 'topic'),
    noFork,
    () => notFound('Project'),
    () => forbidden(),
    () => anotherOne(1),
    () => invalid({ title: ["can't be blank"] }),
  ],
})

// prettier-ignore
const CHANGEABLE = [
  'assignee_id', 'assignee_ids', 'reviewer_ids', 'description', 'labels', 'add_labels', 'remove_labels',
  'milestone_id', 'remove_source_branch', 'allow_collaboration', 'allow_maintainer_to_push', 'squash',
  'target_branch', 'title', 'discussion_locked', 'state_event',
]
export const updateMergeRequest = operation({
  method: 'PUT',
  path: '/projects/:id/merge_requests/:merge_request_iid',
  summary: 'Change a merge request',
  published: true,
  params: t.Object(
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
  ),
  gates: [project, signedIn, mergeRequest, changesIt],
  handle: async (ctx) => {
    const { db, git, project, actor, mergeRequest, params, now } = ctx
    checkTitle(params.title)
    await checkTarget(ctx, params.target_branch)
    const change: MergeRequestChange = {
      title: params.title?.trim(),
      description: params.description,
      state: params.state_event && (params.state_event === 'close' ? 'closed' : 'opened'),
      target_branch: params.target_branch,
      squash: params.squash,
      remove_source_branch: params.remove_source_branch,
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
      const branches = { project_id, source_project_id: source_project_id ?? 0, source_branch, target_branch }
      const twin = await findTwin(db, branches)
      if (twin !== undefined && twin !== mergeRequest.iid) throw anotherOne(twin)
    }
    await changeMergeRequest({ db, git, actor, project, now }, mergeRequest.id, change).catch(
      (error: unknown) => {
        // Another came between the look and the write; which, the broken transaction cannot tell.
        throw violates(error, 'merge_requests_open_key') ? anotherOne(mergeRequest.iid) : error
      },
    )
    return answerWith(ctx, db, mergeRequest)
  },
  returns: MergeRequestDetail,
  refuses: [
    () => invalid({ title: ["can't be blank"] }),
    sameBranch,
    () => noSuchBranch('Target', 'main'),
    () => anotherOne(1),
  ],
})

async function checkTarget(
  { git, mergeRequest }: Here & { readonly mergeRequest: Row },
  branch: string | undefined,
): Promise<void> {
  if (branch === undefined || branch === mergeRequest.target_branch) return
  const { project_id, source_project_id, source_branch } = mergeRequest
  if (project_id === source_project_id && branch === source_branch) throw sameBranch()
  const tip = await git.repository(repositoryPath(project_id)).ref(HEADS + branch)
  if (tip === undefined) throw noSuchBranch('Target', branch)
}

export const deleteMergeRequest = operation({
  method: 'DELETE',
  path: '/projects/:id/merge_requests/:merge_request_iid',
  summary: 'Delete a merge request',
  published: true,
  gates: [project, signedIn, projectOwner, mergeRequest],
  handle: async ({ db, git, project, mergeRequest }) => {
    await removeMergeRequest(db, project.id, mergeRequest.id)
    const repository = git.repository(repositoryPath(project.id))
    const ref = headRef(mergeRequest.iid)
    const from = await repository.ref(ref)
    if (from !== undefined) await repository.moveRefs([{ ref, from, to: undefined }])
    return null
  },
  returns: nothing,
})
