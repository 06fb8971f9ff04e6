import { rm } from 'node:fs/promises'
import { isAbsolute } from 'node:path'
import type { Instance } from '../../instance.ts'
import { createEmpty } from '../../git/create.ts'
import { importRepository, type ImportProgress } from '../../git/import.ts'
import type { Repository } from '../../git/repository.ts'
import type { Project } from '../../db/schema/tables.ts'
import { isAway } from '../../db/errors.ts'
import { enqueue } from '../../jobs/job.ts'
import { signatureOf } from './commit_writing.ts'
import { outboundAddress } from '../settings/outbound.ts'
import { create, repositoryPath, takeId, type NewProject } from '../places/projects.ts'
import { protectDefaultBranch } from '../repositories/protected_branches.ts'
import { findReadme } from '../repositories/readmes.ts'
import { measureRepository } from '../repositories/repositories.ts'

export interface Source {
  /** An address, or an absolute path on this machine. */
  readonly from: string
  readonly onProgress?: (progress: ImportProgress) => void
  readonly signal?: AbortSignal
}

/** The first commit of a repository that is not imported. */
export interface Beginning {
  readonly defaultBranch?: string
  /** A first commit with a file that tells of the project, and whose deed it is. */
  readonly readme?: { readonly text: string; readonly by: { readonly name: string; readonly email: string } }
}

type New = Omit<NewProject, 'id' | 'default_branch' | 'empty_repo'>

/**
 * Makes a project together with its repository, empty, with a first commit, or copied from a source. The row appears once
 * the repository is on disk; when either fails nothing is left of both. Only where the database goes away while it
 * commits the folder stays: nobody can tell then whether the row is there.
 * Throws GitError for a source that cannot be read, ForbiddenAddress for one that must not be.
 */
export async function createWithRepository(
  instance: Instance,
  project: New,
  begin: Source | Beginning = {},
): Promise<Project> {
  const { git } = instance
  const id = await takeId(instance)
  const path = repositoryPath(id)
  if ('from' in begin) await fillFrom(instance, path, begin)
  else await createEmpty(git, path, begin.defaultBranch ?? 'main')
  try {
    const state =
      'from' in begin ? await stateOf(git.repository(path)) : await beginAt(git.repository(path), begin)
    return await insert(instance, { ...project, ...state, id })
  } catch (error) {
    if (!isAway(error)) await rm(git.directory(path), { recursive: true, force: true })
    throw error
  }
}

/** Copies a source to a repository's place. Throws as `createWithRepository`. */
export async function fillFrom({ git, settings }: Instance, path: string, source: Source): Promise<void> {
  const { from, ...options } = source
  const url = !isAbsolute(from) && URL.canParse(from) ? new URL(from) : undefined
  // Other addresses are refused before any connection.
  const connects = url !== undefined && /^(https?|git):$/.test(url.protocol)
  const address = connects ? { address: await outboundAddress(settings, url) } : {}
  await importRepository(git, from, path, { ...options, ...address })
}

export interface State {
  readonly default_branch: string | null
  readonly empty_repo: boolean
  readonly readme_path: string | null
}

const README = 'README.md'

async function beginAt(
  repository: Repository,
  { defaultBranch = 'main', readme }: Beginning,
): Promise<State> {
  if (readme === undefined) return { default_branch: defaultBranch, empty_repo: true, readme_path: null }
  const signature = signatureOf(readme.by, new Date())
  const { commit } = await repository.writeChanges(
    undefined,
    [{ action: 'create', path: README, content: Buffer.from(readme.text) }],
    { parents: [], author: signature, committer: signature, message: 'Initial commit' },
  )
  await repository.moveRefs([{ ref: `refs/heads/${defaultBranch}`, from: undefined, to: commit }])
  return { default_branch: defaultBranch, empty_repo: false, readme_path: README }
}

/** Columns of a repository that was just imported. */
export async function stateOf(repository: Repository): Promise<State> {
  const branch = (await repository.defaultBranch()) ?? null
  const empty_repo = branch === null || (await repository.isEmpty())
  return {
    default_branch: branch,
    empty_repo,
    readme_path: empty_repo ? null : await findReadme(repository, branch),
  }
}

async function insert(
  { db, settings }: Instance,
  project: Omit<NewProject, 'empty_repo'> & State,
): Promise<Project> {
  const { id, default_branch, empty_repo } = project
  return db.transaction(async (tx) => {
    const row = await create(tx, project)
    if (default_branch !== null && !empty_repo)
      await protectDefaultBranch(tx, settings, { id, default_branch })
    await enqueue(tx, measureRepository, { project_id: id }, `measure_repository ${id}`)
    return row
  })
}
