import type { MergeRequest } from '../../db/schema/planning.ts'
import { borrowCommit } from '../../git/borrowing.ts'
import type { Repository } from '../../git/repository.ts'
import { signatureOf, type Writing } from './commit_writing.ts'
import { moveNamed } from './ref_writing.ts'

const HEADS = 'refs/heads/'
/** Commits that are made again at once. */
const MAX_COMMITS = 1_000

/** `project` and `repository` are those of the source branch. */
interface Rebasing extends Writing {
  readonly mergeRequest: Pick<MergeRequest, 'source_branch' | 'target_branch'>
  /** Where the target branch is. */
  readonly target: Repository
}

/** Why a branch was not rebased. */
export class RebaseFailed extends Error {}
/** One of the branches is not there; `which` tells it. */
export class BranchGone extends Error {
  readonly which: 'Source' | 'Target'
  constructor(which: BranchGone['which']) {
    super('a branch is gone')
    this.which = which
  }
}

/**
 * Makes the commits of a merge request's branch again on top of its target, each by its author; merges and what changes
 * nothing any more are left out. Throws RebaseFailed or BranchGone, with no branch moved.
 */
export async function rebaseBranch(rebasing: Rebasing): Promise<void> {
  const { git, repository, target, mergeRequest: request } = rebasing
  const branch = HEADS + request.source_branch
  await moveNamed(rebasing, [branch], async (held) => {
    const [head, tip] = [held.get(branch), await target.ref(HEADS + request.target_branch)]
    if (head === undefined) throw new BranchGone('Source')
    if (tip === undefined) throw new BranchGone('Target')
    if ((await repository.commit(tip)) === undefined)
      await borrowCommit(git, tip, { from: target.path, to: repository.path })
    if (await repository.isAncestor(tip, head)) return []
    const to = await again(rebasing, repository, { head, tip })
    return [{ ref: branch, from: head, to }]
  })
}

async function again(
  { actor, now }: Rebasing,
  repository: Repository,
  { head, tip }: { readonly head: string; readonly tip: string },
): Promise<string> {
  const query = { from: [head], exclude: [tip], order: 'topo', skip: 0, limit: MAX_COMMITS + 1 } as const
  const shas = await repository.log(query)
  if (shas.length > MAX_COMMITS) throw new RebaseFailed('there are too many commits')
  let onto = tip
  for (const sha of shas.toReversed()) {
    const commit = await repository.commit(sha)
    if (commit === undefined) throw new RebaseFailed('a commit is gone')
    if (commit.parents.length > 1) continue
    const picked = await repository.pick({ commit: sha, onto })
    if ('fault' in picked && picked.fault === 'empty') continue
    if (!('tree' in picked)) throw new RebaseFailed('there are conflicts')
    onto = await repository.writeCommit({
      tree: picked.tree,
      parents: [onto],
      author: commit.author,
      committer: signatureOf(actor, now),
      message: commit.message,
    })
  }
  return onto
}
