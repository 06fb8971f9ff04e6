import { rm } from 'node:fs/promises'
import type { Instance } from '../instance.ts'
import { createEmpty } from '../git/create.ts'
import { importRepository, type ImportProgress } from '../git/import.ts'
import type { Project } from '../db/schema.ts'
import { q, statement, type Slots } from '../db/statement.ts'
import { enqueue } from '../jobs/job.ts'
import { create, repositoryPath, type NewProject } from './projects.ts'
import { protectDefaultBranch } from './protected_branches.ts'
import { measureRepository } from './repositories.ts'

export interface Source {
  /** An address, or an absolute path on this machine. */
  readonly from: string
  readonly onProgress?: (progress: ImportProgress) => void
  readonly signal?: AbortSignal
}

const setDefaultBranch = statement((p: Slots<{ id: number; default_branch: string | null }>) =>
  q.updateTable('projects').set({ default_branch: p.default_branch }).where('id', '=', p.id).returningAll(),
)

/**
 * Makes a project together with its repository, empty or copied from a source. When either fails nothing is left of
 * both: the row appears only once the repository is on disk.
 */
export async function createWithRepository(
  { db, git, settings }: Instance,
  project: Omit<NewProject, 'default_branch'>,
  source?: Source,
): Promise<Project> {
  let made: string | undefined
  try {
    return await db.transaction(async (tx) => {
      const { id } = await create(tx, { ...project, default_branch: null })
      const path = repositoryPath(id)
      const { from, ...options } = source ?? {}
      await (from === undefined ? createEmpty(git, path, 'main') : importRepository(git, from, path, options))
      made = path
      const repository = git.repository(path)
      const branch = (await repository.defaultBranch()) ?? null
      if (branch !== null && from !== undefined && !(await repository.isEmpty()))
        await protectDefaultBranch(tx, settings, { id, default_branch: branch })
      await enqueue(tx, measureRepository, { project_id: id }, `measure_repository ${id}`)
      const row = await tx.one(setDefaultBranch, { id, default_branch: branch })
      if (row === undefined) throw new Error('a project went away while its repository was made')
      return row
    })
  } catch (error) {
    if (made !== undefined) await rm(git.directory(made), { recursive: true, force: true })
    throw error
  }
}
