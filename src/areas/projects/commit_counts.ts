import type { Static } from 'typebox'
import { repositoryPath } from '../../core/places/projects.ts'
import type { Instance } from '../../instance.ts'
import type { Project, ProjectRecord } from '../../records/places/full_project.ts'

type Shown = Static<typeof Project>

/** `shown` with the commits of its default branch counted; as it is where no statistics are shown, or no code is there. */
export async function withCommitCount(
  git: Instance['git'],
  row: Pick<ProjectRecord, 'id' | 'default_branch' | 'empty_repo'>,
  shown: Shown,
): Promise<Shown> {
  if (shown.statistics === undefined || row.empty_repo || row.default_branch === null) return shown
  const repository = git.repository(repositoryPath(row.id))
  const tip = await repository.ref(`refs/heads/${row.default_branch}`)
  if (tip === undefined) return shown
  return { ...shown, statistics: { ...shown.statistics, commit_count: await repository.count(tip) } }
}
