import type { Repository } from '../../git/repository.ts'
import type { Instance } from '../../instance.ts'
import type { Job } from '../../jobs/job.ts'
import { closeIssues, closedBy } from '../planning/closing_references.ts'
import { compareBranches, dropHead, headOf, keepHead, messagesOf } from './comparing.ts'
import {
  findLanded,
  findOpenRequest,
  noteMerged,
  noteStatus,
  openRequests,
  type Intent,
  type Landed,
  type OpenRequest,
} from './rows.ts'
import { leadOn } from './stacks.ts'
import { noteVersion } from './versions.ts'
import { repositoryPath } from '../places/projects.ts'
import { recordState } from '../conversation/resource_events.ts'
import { recordMergeRequest } from '../planning/merge_request_events.ts'
import { writeSystemNote } from '../conversation/system_notes.ts'
import { finishTodos } from '../conversation/todos.ts'

// Effects of moved branches on merge requests. All follow from the refs as they stand and from recorded intents, so
// that they can be repeated after a crash.

const HEADS = 'refs/heads/'
/** Commits that are looked through for the one that merged a branch. */
const SEARCHED = 1_000

interface Tools extends Pick<Instance, 'db' | 'git'> {
  /** The user who moves branches. */
  readonly actor?: { readonly id: number } | null
}
interface Place {
  readonly id: number
}

/** Brings the open merge requests from and into these branches of a project in line with its refs; all, without names. */
export async function followBranches(
  tools: Tools,
  project: Place,
  branches: readonly string[] | undefined,
): Promise<void> {
  const found = await openRequests(tools.db, project, branches)
  if (found.length === 0) return
  const repository = tools.git.repository(repositoryPath(project.id))
  const isMeant = (branch: string): boolean => branches === undefined || branches.includes(branch)
  const tips = await tipsOf(repository, branches)

  const into = new Map<string, OpenRequest[]>()
  for (const one of found)
    if (one.project_id === project.id && isMeant(one.target_branch))
      into.set(one.target_branch, [...(into.get(one.target_branch) ?? []), one])
  // Where both branches moved, that it was merged goes before what became of its source.
  const landed = new Set<number>()
  // Requests without a target are marked before a merge in the same move may retarget them.
  const isGone = ([branch]: readonly [string, unknown]): number => Number(tips.get(branch) === undefined)
  for (const [branch, requests] of [...into].toSorted((a, b) => isGone(b) - isGone(a)))
    for (const { id } of await followTarget(tools, repository, tips.get(branch), requests)) landed.add(id)

  const now = landed.size === 0 ? found : await openRequests(tools.db, project, branches)
  const moved = now
    .filter(
      (one) => one.source_project_id === project.id && isMeant(one.source_branch) && !landed.has(one.id),
    )
    .filter((one) => tips.get(one.source_branch) !== one.head_sha)
  for (const request of moved) await followSource(tools, request)
}

async function tipsOf(
  repository: Repository,
  branches: readonly string[] | undefined,
): Promise<Map<string, string | undefined>> {
  if (branches === undefined)
    return new Map((await repository.refs(HEADS)).map(({ name, id }) => [name.slice(HEADS.length), id]))
  const ids = await Promise.all(branches.map((branch) => repository.ref(HEADS + branch)))
  return new Map(branches.map((branch, at) => [branch, ids[at]]))
}

/** Its source branch moved, or went. */
async function followSource({ db, git, actor }: Tools, request: OpenRequest): Promise<void> {
  const { id, iid, project_id } = request
  const target = git.repository(repositoryPath(project_id))
  // One at a time: what is written down last is what was looked at last.
  await target.locked([`merge request ${id}`], async () => {
    const head = await headOf(git, request)
    if (head === undefined) return noteStatus(db, [id], 'broken')
    const compared = await compareBranches(target, { head, target_branch: request.target_branch })
    await keepHead(target, iid, head)
    if (compared === undefined) return noteStatus(db, [id], 'broken')
    await noteVersion({ db, repository: target, user_id: actor?.id ?? null }, id, compared)
  })
}

/** Looks once more at what its source branch holds. */
export const compareAgain: Job<{ id: number }> = {
  name: 'compare_again',
  run: async (instance, { id }) => {
    const request = await findOpenRequest(instance.db, id)
    if (request !== undefined) await followSource(instance, request)
  },
}

/** Keeps the head of a merge request, where the process that made it could not. */
export const keepMergeRequestHead: Job<{ id: number }> = {
  name: 'keep_merge_request_head',
  run: async ({ db, git }, { id }) => {
    const request = await findOpenRequest(db, id)
    if (request === undefined || request.head_sha === null) return
    await keepHead(git.repository(repositoryPath(request.project_id)), request.iid, request.head_sha)
  },
}

/** Gives back what a merge request kept that was deleted. */
export const dropMergeRequestHead: Job<{ project_id: number; iid: number }> = {
  name: 'drop_merge_request_head',
  run: ({ git }, { project_id, iid }) => dropHead(git.repository(repositoryPath(project_id)), iid),
}

/**
 * Their target branch moved: what it holds now is merged, by a merge of ours or by hand, and is given back; the others
 * may conflict.
 */
async function followTarget(
  tools: Tools,
  repository: Repository,
  tip: string | undefined,
  requests: readonly OpenRequest[],
): Promise<readonly OpenRequest[]> {
  const { db } = tools
  if (tip === undefined) {
    await noteStatus(db, idsOf(requests), 'broken')
    return []
  }
  const sought = requests.flatMap(({ head_sha, merging_to }) => [
    ...(head_sha === null ? [] : [head_sha]),
    ...merging_to,
  ])
  const there = await repository
    .mergedInto(tip, [...new Set(sought)])
    .catch(() => one(repository, tip, sought))
  const isLanded = ({ head_sha, merging_to }: OpenRequest): boolean =>
    (head_sha !== null && there.has(head_sha)) || merging_to.some((sha) => there.has(sha))
  const landed = requests.filter(isLanded)
  for (const request of await findLanded(db, idsOf(landed)))
    await settle(tools, repository, request, { tip, there })
  await noteStatus(db, idsOf(requests.filter((request) => !isLanded(request))), 'unchecked')
  return landed
}

const idsOf = (requests: readonly OpenRequest[]): number[] => requests.map(({ id }) => id)

/** The same for each by itself: a commit that is gone must not hide the others. */
async function one(repository: Repository, tip: string, sought: readonly string[]): Promise<Set<string>> {
  const found = new Set<string>()
  for (const sha of new Set(sought))
    if ((await repository.commit(sha)) !== undefined && (await repository.isAncestor(sha, tip)))
      found.add(sha)
  return found
}

interface Found {
  readonly tip: string
  readonly there: ReadonlySet<string>
}

async function settle(
  tools: Tools,
  repository: Repository,
  request: Landed,
  { tip, there }: Found,
): Promise<void> {
  const { id, head_sha, base_sha, intents } = request
  const intent = intents.find(({ commit_sha }) => there.has(commit_sha))
  if (intent !== undefined) return finish(tools, repository, request, intent)
  // A branch that never had a commit of its own is in its target from the start.
  if (head_sha === null || head_sha === base_sha) return noteStatus(tools.db, [id], 'broken')
  const merge_commit_sha = await mergeOf(repository, { head: head_sha, start: request.start_sha, tip })
  const user_id = tools.actor?.id ?? null
  await finish(tools, repository, request, { merge_commit_sha, squash_commit_sha: null, user_id })
}

/** The commit that brought `head` into the branch: the oldest with it as a parent, else itself. */
async function mergeOf(
  repository: Repository,
  { head, start, tip }: { head: string; start: string | null; tip: string },
): Promise<string> {
  if (tip === head) return head
  const exclude = [head, ...(start !== null && (await repository.commit(start)) ? [start] : [])]
  const shas = await repository.log({ from: [tip], exclude, skip: 0, limit: SEARCHED })
  for (const sha of shas.toReversed())
    if ((await repository.commit(sha))?.parents.slice(1).includes(head) === true) return sha
  return head
}

/** A merge that moved its target branch; the branch may be gone since. */
export async function finishMerge(tools: Tools, project: Place, intent: Intent): Promise<void> {
  const [request] = await findLanded(tools.db, [intent.id])
  const repository = tools.git.repository(repositoryPath(project.id))
  if (request !== undefined) await finish(tools, repository, request, intent)
}

interface Done {
  readonly merge_commit_sha: string | null
  readonly squash_commit_sha: string | null
  readonly user_id: number | null
}

async function finish(tools: Tools, repository: Repository, request: Landed, done: Done): Promise<void> {
  const { db } = tools
  const { id, iid, project_id } = request
  const { merge_commit_sha, squash_commit_sha, user_id } = done
  await leadOn(tools, repository, request, user_id)
  const closes = request.closes && request.target_branch === request.default_branch
  const iids = closes ? closedBy([request.description ?? '', ...(await messagesOf(repository, request))]) : []
  await db.transaction(async (tx) => {
    if (!(await noteMerged(tx, { id, merge_commit_sha, squash_commit_sha, user_id }))) return
    await recordState(tx, { noteable_id: id, user_id, state: 'merged' })
    await recordMergeRequest(tx, request, { action: 'merge', author_id: user_id })
    await writeSystemNote(tx, { noteable_id: id, author_id: user_id, action: 'merged', body: 'merged' })
    await finishTodos(tx, [id], user_id)
    const via = `merge request !${iid}`
    await closeIssues(tx, iids, { project_id, user_id, via, code_of: project_id, merge_request_id: id })
  })
}
