import { compareBranches, headOf } from '../../core/merge_requests/comparing.ts'
import type { Repository } from '../../git/repository.ts'
import type { Instance } from '../../instance.ts'
import type { MergeRequestShown } from '../../records/merge_requests/merge_request.ts'

interface Here extends Pick<Instance, 'git'> {
  readonly repository: Repository
}

/** As it stands in git this moment, which a row that is listed may not know yet. */
export async function withLiveStatus(
  { git, repository }: Here,
  row: MergeRequestShown,
): Promise<MergeRequestShown> {
  if (row.state !== 'opened') return row
  const head = await headOf(git, row)
  const compared =
    head === undefined
      ? undefined
      : await compareBranches(repository, { head, target_branch: row.target_branch })
  return { ...row, merge_status: compared?.status ?? 'broken', behind: compared?.behind ?? false }
}

const MOST_DIVERGED = 10_000

/** How many commits the target branch has that the source branch has not. */
export async function divergedBy(
  { repository }: Pick<Here, 'repository'>,
  row: Pick<MergeRequestShown, 'target_branch' | 'head_sha'>,
): Promise<number> {
  const tip = await repository.ref(`refs/heads/${row.target_branch}`)
  if (tip === undefined || row.head_sha === null) return 0
  const query = { from: [tip], exclude: [row.head_sha], skip: 0, limit: MOST_DIVERGED }
  return (await repository.log(query)).length
}
