import { sql } from 'kysely'
import { statement, type Slots } from '../../db/statement.ts'
import type { Git } from '../../git/git.ts'
import { maintain } from '../../git/care/maintenance.ts'
import { pointHead } from '../../git/refs/head.ts'
import { directoryBytes } from '../../git/sizes.ts'
import type { Job } from '../../jobs/job.ts'
import { repositoryPath } from '../places/projects.ts'

const setSize = statement(
  (p: Slots<{ id: number; size: number }>) =>
    sql`update projects set repository_size = ${p.size} where id = ${p.id}`,
)

/** Notes how many bytes a project's repository takes, for statistics. */
export const measureRepository: Job<{ project_id: number }> = {
  name: 'measure_repository',
  run: async ({ db, git }, { project_id }) => {
    const size = await directoryBytes(git.directory(repositoryPath(project_id))).catch(() => 0)
    await db.run(setSize, { id: project_id, size })
  },
}

const branchOf = statement(
  (p: Slots<{ id: number }>) => sql<{ default_branch: string | null }>`
    select default_branch from projects where id = ${p.id}`,
)
/** Points HEAD at the default branch of the row. */
export const followDefaultBranch: Job<{ project_id: number }> = {
  name: 'follow_default_branch',
  run: async ({ db, git }, { project_id }) => {
    const repository = git.repository(repositoryPath(project_id))
    await repository.locked(['HEAD'], async () => {
      const branch = (await db.one(branchOf, { id: project_id }))?.default_branch ?? undefined
      const head = await repository.defaultBranch()
      if (branch !== undefined && head !== undefined && head !== branch)
        await pointHead(git.directory(repository.path), branch)
    })
  },
}

/** Packs a project's repository when it has grown untidy. */
export const maintainRepository: Job<{ project_id: number }> = {
  name: 'maintain_repository',
  run: async ({ git }, { project_id }) => {
    const path = repositoryPath(project_id)
    if (await git.repository(path).exists()) await maintain(git, path)
  },
}

const SWEEP = 6 * 3_600_000

/** Removes what killed processes left in the repositories, now and every six hours, until stopped. Never throws. */
export function startSweeping(
  git: Git,
  say: (detail: object, text: string) => void,
): { readonly stop: () => void } {
  const sweep = async (): Promise<void> => {
    try {
      const swept = await git.sweep()
      if (Object.values(swept).some((count) => count > 0))
        say(swept, 'leftovers of dead processes were removed')
    } catch (error) {
      say({ err: error }, 'the repositories could not be swept')
    }
  }
  void sweep()
  const clock = setInterval(() => void sweep(), SWEEP)
  clock.unref()
  return { stop: () => clearInterval(clock) }
}
