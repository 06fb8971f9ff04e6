import type { Commit } from '../../../git/objects/commit.ts'
import type { Patch } from '../../../git/objects/patch.ts'
import type { Repository } from '../../../git/repository.ts'
import { readCommits } from '../../../core/repositories/commit_reading.ts'
import type { Version } from './store.ts'

type Compared = Pick<Version, 'base_sha' | 'start_sha' | 'head_sha'>

/** Commits of the source branch that the target lacks, newest first. */
export async function commitsOf(
  repository: Repository,
  { head_sha, start_sha }: Compared,
  { offset, limit }: { readonly offset: number; readonly limit: number },
): Promise<Commit[]> {
  const query = { from: [head_sha], exclude: [start_sha], skip: offset, limit }
  const shas = await repository.log(query)
  return readCommits(repository, shas)
}

export async function patchOf(repository: Repository, { base_sha, head_sha }: Compared): Promise<Patch> {
  const [before, after] = await Promise.all([repository.commit(base_sha), repository.commit(head_sha)])
  if (before === undefined || after === undefined) return { files: [], complete: true }
  return repository.patch(before.tree, after.tree)
}
