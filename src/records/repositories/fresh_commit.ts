import type { Static } from 'typebox'
import type { Repository } from '../../git/repository.ts'
import type { Instance } from '../../instance.ts'
import { presentCommit, type Commit, type CommitDetail } from './commit.ts'
import type { Project } from '../../core/places/projects.ts'

interface Here extends Pick<Instance, 'config'> {
  readonly repository: Repository
  readonly project: Project
}

/** A commit that was just written. */
export async function presentFresh(
  here: Here,
  sha: string,
  wantsStats: boolean,
): Promise<Static<typeof Commit>> {
  const [commit, counted] = await Promise.all([
    here.repository.commit(sha),
    wantsStats ? here.repository.stats([sha]) : undefined,
  ])
  if (commit === undefined) throw new Error('a commit that was written cannot be read')
  return presentCommit(commit, here.project, here, { stats: counted?.get(sha), trailers: false })
}

/** The same by itself: nothing can have run for it yet. */
export async function presentFreshDetail(
  here: Here,
  sha: string,
  wantsStats: boolean,
): Promise<Static<typeof CommitDetail>> {
  const shown = await presentFresh(here, sha, wantsStats)
  return Object.assign(shown, { status: null, project_id: here.project.id, last_pipeline: null })
}
