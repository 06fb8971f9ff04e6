import { actsBy } from '../../../access/acting.ts'
import { createFirstPipeline } from '../../../ci/creation/merge_request_pipelines.ts'
import { asDraft } from '../../../core/merge_requests/drafts.ts'
import { headPipelineStatus, isUnfinished } from '../../../core/delivery/head_pipelines.ts'
import { openRequests, type OpenRequest } from '../../../core/merge_requests/rows.ts'
import { pushedOptions, type PushedOptions } from '../../../core/pushes/pipeline_requests.ts'
import { findByRef, repositoryPath, type Project } from '../../../core/places/projects.ts'
import type { MergeRequestOptions } from '../../../core/pushes/options.ts'
import * as users from '../../../core/people/users.ts'
import type { User } from '../../../db/schema/tables.ts'
import { Problem } from '../../../http/problems.ts'
import type { Instance } from '../../../instance.ts'
import type { Job } from '../../../jobs/job.ts'
import { waitForPipeline } from './auto_merging.ts'
import { createMergeRequest } from '../create_operations.ts'
import { mayMergeIt } from '../gates.ts'
import { mergeMergeRequest } from './merge_operations.ts'
import { assigneesOf, findMilestoneByTitle, findProject, showMergeRequest, usersNamed } from '../store.ts'
import { updateMergeRequest } from '../write_operations.ts'

const acts = {
  create: actsBy(createMergeRequest),
  update: actsBy(updateMergeRequest),
  merge: actsBy(mergeMergeRequest),
}

interface Pushed {
  readonly instance: Instance
  readonly user: User
  readonly source: Project
  readonly target: Project
  readonly branch: string
  readonly options: MergeRequestOptions
}

/**
 * Opens or changes the merge requests of pushed branches as the push options say, as the user would by the interface.
 * What is refused is left out. Done again after a crash, it finds the merge request and changes it to the same.
 */
export const applyPushOptions: Job<PushedOptions> = {
  ...pushedOptions,
  run: async (instance, { project_id, user_id, branches, options }) => {
    const { db } = instance
    const user = await users.find(db, user_id)
    const source = await findProject(db, project_id, user_id)
    const target = source && (await targetOf(instance, source, { user_id, named: options.target_project }))
    if (user?.state !== 'active' || source === undefined || target === undefined) return
    for (const branch of branches)
      await obey({ instance, user, source, target, branch, options }).catch((error: unknown) => {
        if (!(error instanceof Problem) || error.status >= 500) throw error
      })
  },
}

/** The project that is named, else what the source was forked from, as published; else the source. */
async function targetOf(
  { db }: Instance,
  source: Project,
  { user_id, named }: { readonly user_id: number; readonly named: string | undefined },
): Promise<Project | undefined> {
  const isOwn = source.settings['mr_default_target_self'] === true
  const id =
    named === undefined
      ? ((isOwn ? null : source.forked_from_project_id) ?? source.id)
      : (await findByRef(db, named))?.id
  return id === undefined ? undefined : findProject(db, id, user_id)
}

async function obey(pushed: Pushed): Promise<void> {
  const { instance, user, options } = pushed
  const found = await findOpen(pushed)
  if (found === undefined && !options.create) return
  await (found === undefined ? open(pushed) : change(pushed, found))
  const request = await findOpen(pushed)
  if (request === undefined) return
  if (found === undefined)
    await createFirstPipeline.run(instance, { merge_request_id: request.id, user_id: user.id })
  if (options.auto_merge) await mergeLater(pushed, request)
}

/** The newest open merge request from the branch into the project. */
async function findOpen({ instance, source, target, branch }: Pushed): Promise<OpenRequest | undefined> {
  const found = await openRequests(instance.db, source, [branch])
  return found
    .filter(
      (one) =>
        one.source_project_id === source.id && one.source_branch === branch && one.project_id === target.id,
    )
    .toSorted((a, b) => b.id - a.id)[0]
}

async function open(pushed: Pushed): Promise<void> {
  const { instance, user, source, target, branch, options } = pushed
  const target_branch = options.target ?? target.default_branch ?? ''
  const words = await wordsOf(pushed, target_branch)
  const title = options.title ?? words.title
  const sent = {
    source_branch: branch,
    target_branch,
    target_project_id: target.id,
    title: options.draft ? asDraft(title) : title,
    description: options.description ?? words.description,
    ...(await peopleAndPlans(pushed)),
    ...(options.labels.length > 0 && { labels: options.labels }),
    squash: options.squash,
    remove_source_branch: options.remove_source_branch,
  }
  await acts.create(instance, { user_id: user.id, project: source, path: { id: String(source.id) }, sent })
}

/** Title and description of a merge request whose user gives none: of its only commit, else the branch's name. */
async function wordsOf(
  { instance, source, branch }: Pushed,
  target_branch: string,
): Promise<{ readonly title: string; readonly description: string }> {
  const repository = instance.git.repository(repositoryPath(source.id))
  const head = await repository.ref(`refs/heads/${branch}`)
  const base = await repository.ref(`refs/heads/${target_branch}`)
  const shas =
    head === undefined || base === undefined
      ? []
      : await repository.log({ from: [head], exclude: [base], skip: 0, limit: 2 })
  const commit = shas.length === 1 ? await repository.commit(shas[0] ?? '') : undefined
  const [title = '', ...rest] = (commit?.message ?? '').trim().split('\n')
  if (title !== '') return { title: title.slice(0, 255), description: rest.join('\n').trim() }
  const name = branch.replaceAll(/[-_]+/g, ' ').trim()
  return { title: name.charAt(0).toUpperCase() + name.slice(1), description: '' }
}

async function change(pushed: Pushed, request: OpenRequest): Promise<void> {
  const { instance, user, target, options } = pushed
  const { title: before } = await showMergeRequest(instance.db, { id: request.id, user_id: user.id })
  const title = options.title ?? before
  const named = options.draft ? asDraft(title) : title
  const sent = {
    ...(named !== before && { title: named }),
    ...(options.description !== undefined && { description: options.description }),
    ...(options.target !== undefined && { target_branch: options.target }),
    ...(await peopleAndPlans(pushed, request)),
    ...(options.labels.length > 0 && { add_labels: options.labels }),
    ...(options.unlabels.length > 0 && { remove_labels: options.unlabels }),
    ...(options.squash && { squash: true }),
    ...(options.remove_source_branch && { remove_source_branch: true }),
  }
  if (Object.keys(sent).length === 0) return
  const path = { id: String(target.id), merge_request_iid: String(request.iid) }
  await acts.update(instance, { user_id: user.id, project: target, path, sent })
}

async function peopleAndPlans(
  { instance: { db }, target, options }: Pushed,
  request?: OpenRequest,
): Promise<{ assignee_ids?: number[]; milestone_id?: number }> {
  const milestone =
    options.milestone === undefined ? undefined : await findMilestoneByTitle(db, target, options.milestone)
  const changes = options.assign.length + options.unassign.length > 0
  const before = request && changes ? await assigneesOf(db, request.id) : []
  const gone = await usersNamed(db, options.unassign)
  const kept = [...before, ...(await usersNamed(db, options.assign))].filter((id) => !gone.includes(id))
  return {
    ...(changes && { assignee_ids: [...new Set(kept)] }),
    ...(milestone !== undefined && { milestone_id: milestone }),
  }
}

/** Unlike a request to merge, a push waits where no pipeline has begun: what reports on it comes after it. */
async function mergeLater({ instance, user, target }: Pushed, request: OpenRequest): Promise<void> {
  const { db } = instance
  const shown = await showMergeRequest(db, { id: request.id, user_id: user.id })
  const status = await headPipelineStatus(db, shown.id, shown.head_sha ?? '')
  const path = { id: String(target.id), merge_request_iid: String(request.iid) }
  if (status === 'success')
    return acts.merge(instance, { user_id: user.id, project: target, path, sent: { auto_merge: true } })
  if (!(await mayMergeIt({ db, actor: user, project: target, mergeRequest: shown }))) return
  await waitForPipeline({ db, actor: user }, shown, {}, (one) => one === 'none' || isUnfinished(one))
}
