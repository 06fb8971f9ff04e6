import { Type as t } from 'typebox'
import { ofMergeRequest } from '../../access/conversation_records.ts'
import { developer, mayReadCode, project, signedIn } from '../../access/gates/gates.ts'
import { compareBranches, headOf, keepHead } from '../../core/merge_requests/comparing.ts'
import { nextInProject } from '../../core/values/counters.ts'
import { isRelated } from '../../core/places/fork_network.ts'
import { hearDescription } from '../../core/conversation/mentions.ts'
import { changeMergeRequest } from '../../core/merge_requests/changes.ts'
import { followBranches, keepMergeRequestHead } from '../../core/merge_requests/moves.ts'
import { noteCompared } from '../../core/merge_requests/rows.ts'
import { insertMergeRequest } from '../../core/merge_requests/writes.ts'
import { newMergeRequest } from '../../core/pushes/pipeline_requests.ts'
import { hasFeature } from '../../core/places/project_features.ts'
import { repositoryPath, type Project } from '../../core/places/projects.ts'
import { applyQuickActions, placeOf } from '../../core/quick_actions/apply.ts'
import { readTargetBranches } from '../../core/merge_requests/target_branches.ts'
import { ROLES, canSee } from '../../core/sight/roles.ts'
import { enqueue } from '../../jobs/job.ts'
import { LONG_TEXT, operation } from '../../http/operation.ts'
import { forbidden, invalid, notFound, unprocessable, type Problem } from '../../http/problems.ts'
import { MergeRequestDetail } from '../../records/merge_requests/merge_request_detail.ts'
import { manages, readsMergeRequests } from './gates.ts'
import { findProject } from './store.ts'
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
  twinOf,
  type Here,
} from './write_params.ts'

const noFork = (): Problem => unprocessable(['Source project is not a fork of the target project'])

/** Where the branch is to be merged: here, or what this project was forked from or into. */
async function targetOf({ db, actor, project }: Here, id: number | undefined): Promise<Project> {
  if (id === undefined || id === project.id) return project
  const found = await findProject(db, id, actor.id)
  if (found === undefined || !canSee(actor, found.visibility, found.role, ROLES.guest))
    throw notFound('Project')
  if (!mayReadCode(actor, found) || !hasFeature(actor, found, 'merge_requests') || found.archived)
    throw forbidden()
  if (!isRelated(project, found)) throw noFork()
  return found
}

export const createMergeRequest = operation({
  method: 'POST',
  path: '/projects/:id/merge_requests',
  summary: 'Create a merge request',
  published: true,
  moves: 'refs',
  takes: LONG_TEXT,
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
    checkLabels(params)
    const project = await targetOf(ctx, params.target_project_id)
    if (project.id === ctx.project.id && source_branch === target_branch) throw sameBranch()
    const repository = git.repository(repositoryPath(project.id))
    const ends = { project_id: project.id, source_project_id: ctx.project.id, source_branch, target_branch }
    const head = await headOf(git, ends)
    if (head === undefined) throw noSuchBranch('Source', source_branch)
    const compared = await compareBranches(repository, { head, target_branch })
    if (compared === undefined) throw noSuchBranch('Target', target_branch)
    const text = params.description ?? ''
    const branches = await readTargetBranches(git, { ...ends, head_sha: head }, { text })
    const values = {
      ...ends,
      author_id: actor.id,
      title: params.title.trim(),
      description: params.description ?? null,
      squash: params.squash ?? false,
      remove_source_branch: params.remove_source_branch ?? false,
      allow_collaboration: project.id !== ctx.project.id && collaborates(params) === true,
    }
    const change = manages(actor, project) ? managed(params) : {}
    const made = await db
      .transaction(async (tx) => {
        const iid = await nextInProject(tx, project.id, 'merge_requests')
        const row = await insertMergeRequest(tx, { ...values, iid })
        await noteCompared(tx, row.id, compared)
        await changeMergeRequest({ db: tx, actor, project, now, quiet: true }, row.id, change)
        const about = ofMergeRequest(row)
        const speaker = { db: tx, actor, now, branches, making: { plans: manages(actor, project) } }
        const obeyed = await applyQuickActions(speaker, about, placeOf(project), text)
        await hearDescription({ db: tx, actor, about, project }, obeyed.text)
        await enqueue(tx, keepMergeRequestHead, { id: row.id })
        await enqueue(tx, newMergeRequest, { merge_request_id: row.id, user_id: actor.id })
        return row
      })
      .catch(async (error: unknown) => {
        throw await twinOf(db, error, { ...values, iid: 0 })
      })
    await keepHead(repository, made.iid, head)
    // A branch that moved meanwhile moved unheard.
    await followBranches(ctx, ctx.project, [source_branch])
    return answerWith(Object.assign(ctx, { project }), db, made)
  },
  returns: MergeRequestDetail,
  refuses: [
    sameBranch,
    noSuchBranch('Source', 'topic'),
    noFork,
    notFound('Project'),
    forbidden(),
    anotherOne(1),
    invalid({ title: ["can't be blank"] }),
  ],
})
