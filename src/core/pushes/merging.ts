import type { MergeRequest } from '../../db/schema/planning.ts'
import { isGitError } from '../../git/errors.ts'
import type { Commit } from '../../git/objects/commit.ts'
import type { RefMove } from '../../git/refs/refs.ts'
import type { Repository } from '../../git/repository.ts'
import { signatureOf, type Writing } from './commit_writing.ts'
import { headOf } from '../merge_requests/comparing.ts'
import { checksLet } from '../delivery/head_pipelines.ts'
import { finishMerge } from '../merge_requests/moves.ts'
import { findIntents, forgetIntent, noteIntent, type Intent } from '../merge_requests/rows.ts'
import { findMergeRequest } from '../sight/noteables.ts'
import { movingRefs } from './pushes.ts'

const HEADS = 'refs/heads/'
/** Times that the target branch may move away under a merge, by another process. */
const ATTEMPTS = 8

/** Why a merge request was not merged. */
export class MergeRefused extends Error {
  readonly why: 'not_allowed' | 'conflict' | 'moved'
  /** The source branch's tip. */
  readonly head: string
  constructor(why: MergeRefused['why'], head = '') {
    super(why)
    this.why = why
    this.head = head
  }
}

/** How a merge request is to be merged. */
export interface MergePlan {
  /** How the project merges: with a merge commit, with one onto a rebased branch, or without any. */
  readonly method: 'merge' | 'rebase_merge' | 'ff'
  /** The commit that the source branch must hold. */
  readonly sha: string | undefined
  /** Whether the checks of its head, where there are any, must have passed. */
  readonly afterChecks: boolean
  readonly squash: boolean
  readonly message: string
  readonly squashMessage: string
  /** Authors of the commits in a squash. */
  readonly author: { readonly name: string; readonly email: string } | undefined
  /** Whether its source branch goes with the merge. */
  readonly removesSource: boolean
}

interface Merging extends Writing {
  readonly mergeRequest: Pick<
    MergeRequest,
    'id' | 'iid' | 'source_branch' | 'target_branch' | 'source_project_id' | 'project_id'
  >
}

/**
 * Merges a merge request: what is to come is written down, the target branch moves, and the rows hear of it like of
 * every branch that moves. Throws MergeRefused.
 */
export async function mergeRequest(merging: Merging, plan: MergePlan): Promise<void> {
  for (let attempt = 1; ; attempt += 1)
    try {
      const intent = await mergeOnce(merging, plan)
      // Independent of later moves of the branch.
      return await finishMerge(merging, merging.project, intent)
    } catch (error) {
      if (!isGitError(error, 'moved') || attempt === ATTEMPTS) throw error
    }
}

function mergeOnce(merging: Merging, plan: MergePlan): Promise<Intent> {
  const { repository, git, project, mergeRequest: request } = merging
  const target = HEADS + request.target_branch
  const isHere = request.source_project_id === request.project_id
  const branch = HEADS + request.source_branch
  return movingRefs(merging, project, false, () =>
    // The source branch of this repository stands still too: what is merged is what was checked.
    repository.locked(isHere ? [target, branch] : [target], async () => {
      await merging.stillMatches()
      // In this order: what was begun is noted until the row knows of it.
      const begun = await findIntents(merging.db, request.id)
      const now = await findMergeRequest(merging.db, project, request.iid)
      const [tip, head] = await Promise.all([repository.ref(target), headOf(git, request)])
      if (now?.state !== 'opened' || now.target_branch !== request.target_branch)
        throw new MergeRefused('not_allowed')
      if (tip === undefined || head === undefined) throw new MergeRefused('not_allowed')
      // Another merge of it has moved the branch, and its row has not heard yet.
      if (await holdsOne(repository, tip, begun)) throw new MergeRefused('not_allowed')
      const made = await makeMerge(merging, plan, { tip, head })
      if (plan.sha !== undefined && plan.sha !== head) throw new MergeRefused('moved', head)
      const { afterChecks } = plan
      if (!(await checksLet(merging.db, { id: request.id, sha: head, afterChecks })))
        throw new MergeRefused('not_allowed')
      const intent = { id: request.id, user_id: merging.actor.id, ...made }
      const { target_branch } = request
      if (!(await noteIntent(merging.db, { ...intent, target_branch }))) throw new MergeRefused('not_allowed')
      const moves: RefMove[] = [{ ref: target, from: tip, to: made.commit_sha }]
      if (plan.removesSource && isHere && (await repository.defaultBranch()) !== request.source_branch)
        moves.push({ ref: branch, from: head, to: undefined })
      await repository.moveRefs(moves).catch(async (error: unknown) => {
        if (isGitError(error, 'moved')) await forgetIntent(merging.db, intent)
        throw error
      })
      return { result: intent, moves }
    }),
  )
}

async function holdsOne(repository: Repository, tip: string, shas: readonly string[]): Promise<boolean> {
  for (const sha of shas)
    if ((await repository.commit(sha)) !== undefined && (await repository.isAncestor(sha, tip))) return true
  return false
}

interface Tips {
  /** Of the target branch and of the source branch. */
  readonly tip: string
  readonly head: string
}
interface Made {
  /** The new commit of the target branch. */
  readonly commit_sha: string
  readonly merge_commit_sha: string | null
  readonly squash_commit_sha: string | null
}

/** Writes the commits of a merge. Nothing reaches them until the target branch moves. */
async function makeMerge(merging: Merging, plan: MergePlan, { tip, head }: Tips): Promise<Made> {
  const { repository } = merging
  const base = await repository.mergeBase(tip, head)
  // Nothing is left to merge: another merge was first, or there never was anything.
  if (base === head) throw new MergeRefused('not_allowed')
  const [ours, theirs] = await Promise.all([commitAt(repository, tip), commitAt(repository, head)])
  const isAhead = base === tip
  if (plan.method !== 'merge' && !isAhead) throw new MergeRefused('conflict')
  const tree = isAhead ? theirs.tree : await mergedTree(repository, ours, theirs)
  const squashed = plan.squash ? await writeSquash(merging, plan, { base, tree: theirs.tree }) : undefined
  if (plan.method === 'ff')
    return { commit_sha: squashed ?? head, merge_commit_sha: null, squash_commit_sha: squashed ?? null }
  const person = signatureOf(merging.actor, merging.now)
  const commit = await repository.writeCommit({
    tree,
    parents: [tip, squashed ?? head],
    author: person,
    committer: person,
    message: plan.message,
  })
  return { commit_sha: commit, merge_commit_sha: commit, squash_commit_sha: squashed ?? null }
}

async function commitAt(repository: Repository, sha: string): Promise<Commit> {
  const commit = await repository.commit(sha)
  if (commit === undefined) throw new MergeRefused('not_allowed')
  return commit
}

async function mergedTree(repository: Repository, ours: Commit, theirs: Commit): Promise<string> {
  const merged = await repository.mergeTrees(ours.id, theirs.id)
  if ('tree' in merged) return merged.tree
  // Equal changes on both sides give an empty merge, which is made nevertheless.
  if (merged.fault === 'empty') return ours.tree
  throw new MergeRefused('conflict')
}

/** All that the source branch changed as one commit, on top of where it parted. */
function writeSquash(
  { repository, actor, now }: Merging,
  plan: MergePlan,
  { base, tree }: { readonly base: string | undefined; readonly tree: string },
): Promise<string> {
  return repository.writeCommit({
    tree,
    parents: base === undefined ? [] : [base],
    author: signatureOf(plan.author ?? actor, now),
    committer: signatureOf(actor, now),
    message: plan.squashMessage,
  })
}
