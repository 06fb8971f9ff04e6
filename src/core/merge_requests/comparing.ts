import { isGitError } from '../../git/errors.ts'
import { borrowCommit } from '../../git/borrowing.ts'
import type { Repository } from '../../git/repository.ts'
import type { Instance } from '../../instance.ts'
import { readCommits } from '../repositories/commit_reading.ts'
import type { Compared } from './rows.ts'
import { repositoryPath } from '../places/projects.ts'

// The comparison of the two branches of a merge request by git.

const HEADS = 'refs/heads/'
/** Commits that a merge request is found by. */
const REMEMBERED = 5_000
/** Times that somebody else may keep another head meanwhile. */
const ATTEMPTS = 5
/** Commits whose messages and committers are read. */
const READ = 1_000

interface Ends {
  readonly project_id: number
  /** Null once the fork that it came from is gone. */
  readonly source_project_id: number | null
  readonly source_branch: string
}

/** The source branch's commits, fetched into the target repository; undefined when the branch is gone. */
export async function headOf(git: Instance['git'], ends: Ends): Promise<string | undefined> {
  const { project_id, source_project_id, source_branch } = ends
  if (source_project_id === null) return undefined
  const [from, to] = [repositoryPath(source_project_id), repositoryPath(project_id)]
  const head = await git.repository(from).ref(HEADS + source_branch)
  if (head !== undefined && from !== to && (await git.repository(to).commit(head)) === undefined)
    await borrowCommit(git, head, { from, to })
  return head
}

/** The ends that a merge request compares; undefined without a target branch. */
export async function compareBranches(
  repository: Repository,
  { head, target_branch }: { readonly head: string; readonly target_branch: string },
): Promise<Compared | undefined> {
  const start = await repository.ref(HEADS + target_branch)
  if (start === undefined) return undefined
  const base = await repository.mergeBase(start, head)
  const [before, after] = await Promise.all([repository.commit(base ?? start), repository.commit(head)])
  if (before === undefined || after === undefined) return undefined
  const [patch, merged, commits] = await Promise.all([
    repository.patch(before.tree, after.tree),
    base === head ? undefined : repository.mergeTrees(start, head, true),
    repository.log({ from: [head], exclude: [start], skip: 0, limit: REMEMBERED }),
  ])
  const conflicts = merged !== undefined && 'fault' in merged && merged.fault === 'conflict'
  return {
    base_sha: before.id,
    start_sha: start,
    head_sha: head,
    changes_count: patch.complete ? String(patch.files.length) : `${patch.files.length}+`,
    status: base === head ? 'broken' : conflicts ? 'cannot_be_merged' : 'can_be_merged',
    behind: base !== start,
    commits,
    committer_emails: await committersOf(repository, commits),
  }
}

async function committersOf(repository: Repository, shas: readonly string[]): Promise<string[]> {
  const commits = await readCommits(repository, shas.slice(0, READ))
  return [...new Set(commits.map(({ committer }) => committer.email.toLowerCase()))]
}

const headRef = (iid: number): string => `refs/merge-requests/${iid}/head`

/** Lets the commits of a merge request stay, and be fetched, when its branch has moved or gone. */
export const keepHead = (repository: Repository, iid: number, head: string): Promise<void> =>
  pointAt(repository, headRef(iid), head)
/** Removes that ref, as often as it is called. */
export const dropHead = (repository: Repository, iid: number): Promise<void> =>
  pointAt(repository, headRef(iid), undefined)

async function pointAt(repository: Repository, ref: string, to: string | undefined): Promise<void> {
  // No lock is held for it: who pushes and who changes what is compared may both do so, and each looks again.
  for (let attempt = 1; ; attempt += 1) {
    const from = await repository.ref(ref)
    if (from === to) return
    try {
      return await repository.moveRefs([{ ref, from, to }])
    } catch (error) {
      if (!isGitError(error, 'moved') || attempt === ATTEMPTS) throw error
    }
  }
}

/** The messages of a merge request's commits, as far as lists of commits show them. */
export async function messagesOf(
  repository: Repository,
  { head_sha, base_sha }: { readonly head_sha: string | null; readonly base_sha: string | null },
): Promise<string[]> {
  if (head_sha === null || base_sha === null || (await repository.commit(head_sha)) === undefined) return []
  const shas = await repository.log({ from: [head_sha], exclude: [base_sha], skip: 0, limit: READ })
  return (await readCommits(repository, shas)).map(({ message }) => message)
}
