import { rm } from 'node:fs/promises'
import { isAbsolute } from 'node:path'
import type { Instance } from '../instance.ts'
import { createEmpty } from '../git/create.ts'
import { importRepository, type ImportProgress } from '../git/import.ts'
import type { Project } from '../db/schema.ts'
import { isAway } from '../db/errors.ts'
import { enqueue } from '../jobs/job.ts'
import { outboundAddress } from './outbound.ts'
import { create, repositoryPath, takeId, type NewProject } from './projects.ts'
import { protectDefaultBranch } from './protected_branches.ts'
import { measureRepository } from './repositories.ts'

export interface Source {
  /** An address, or an absolute path on this machine. */
  readonly from: string
  readonly onProgress?: (progress: ImportProgress) => void
  readonly signal?: AbortSignal
}

type New = Omit<NewProject, 'id' | 'default_branch'>

/**
 * Makes a project together with its repository, empty or copied from a source. The row appears once the repository is on
 * disk; when either fails nothing is left of both. Only where the database goes away while it commits the folder stays:
 * nobody can tell then whether the row is there.
 * Throws GitError for a source that cannot be read, ForbiddenAddress for one that must not be.
 */
export async function createWithRepository(
  instance: Instance,
  project: New,
  source?: Source,
): Promise<Project> {
  const { db, git } = instance
  const id = await takeId(db)
  const path = repositoryPath(id)
  await fill(instance, path, source)
  try {
    return await insert(instance, { ...project, id }, source !== undefined)
  } catch (error) {
    if (!isAway(error)) await rm(git.directory(path), { recursive: true, force: true })
    throw error
  }
}

async function fill({ git, settings }: Instance, path: string, source: Source | undefined): Promise<void> {
  if (source === undefined) return createEmpty(git, path, 'main')
  const { from, ...options } = source
  const url = !isAbsolute(from) && URL.canParse(from) ? new URL(from) : undefined
  // What is none of these is refused before anything is connected to.
  const connects = url !== undefined && /^(https?|git):$/.test(url.protocol)
  const address = connects ? { address: await outboundAddress(settings, url) } : {}
  await importRepository(git, from, path, { ...options, ...address })
}

async function insert(
  { db, git, settings }: Instance,
  project: Omit<NewProject, 'default_branch'>,
  imported: boolean,
): Promise<Project> {
  const { id } = project
  const repository = git.repository(repositoryPath(id))
  const branch = (await repository.defaultBranch()) ?? null
  const born = branch !== null && imported && !(await repository.isEmpty())
  return db.transaction(async (tx) => {
    const row = await create(tx, { ...project, default_branch: branch })
    if (born) await protectDefaultBranch(tx, settings, { id, default_branch: branch })
    await enqueue(tx, measureRepository, { project_id: id }, `measure_repository ${id}`)
    return row
  })
}
