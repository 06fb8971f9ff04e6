import { rm } from 'node:fs/promises'
import { sql } from 'kysely'
import { violates } from '../../db/errors.ts'
import type { Project, ProjectImport } from '../../db/schema/tables.ts'
import { q, statement, type Slots } from '../../db/statement.ts'
import { createEmpty } from '../../git/create.ts'
import { isGitError } from '../../git/errors.ts'
import type { Instance } from '../../instance.ts'
import { enqueue, type Job } from '../../jobs/job.ts'
import { fillFrom, stateOf, type State } from './import.ts'
import { ForbiddenAddress } from '../settings/outbound.ts'
import { create, repositoryPath, takeId, type NewProject } from '../places/projects.ts'
import { protectDefaultBranch } from '../repositories/protected_branches.ts'
import { measureRepository } from '../repositories/repositories.ts'

// Projects whose repository is filled from elsewhere after they were made: by an address, or from the project forked.

/** Where a repository is filled from. */
export type Origin =
  { readonly kind: 'url'; readonly url: string } | { readonly kind: 'fork'; readonly projectId: number }

type New = Omit<NewProject, 'id' | 'default_branch' | 'empty_repo'>

const insertImport = statement((p: Slots<Pick<ProjectImport, 'project_id' | 'kind' | 'url' | 'source'>>) =>
  q
    .insertInto('project_imports')
    .values({ project_id: p.project_id, kind: p.kind, url: p.url, source: p.source }),
)
const begin = statement(
  (p: Slots<{ project_id: number }>) => sql<ProjectImport>`
    update project_imports set status = 'started', updated_at = now()
     where project_id = ${p.project_id} and status in ('scheduled', 'started')
    returning *`,
)
const end = statement(
  (p: Slots<{ project_id: number; error: string | null }>) => sql`
    update project_imports
       set status = case when ${p.error}::text is null then 'finished' else 'failed' end, error = ${p.error}::text,
           source = null, updated_at = now()
     where project_id = ${p.project_id}`,
)
const settle = statement(
  (p: Slots<State & { project_id: number }>) => sql`
    update projects
       set default_branch = ${p.default_branch}, empty_repo = ${p.empty_repo}, readme_path = ${p.readme_path}
     where id = ${p.project_id}`,
)

/** An address without what may be a password in it. */
function withoutCredentials(address: string): string {
  const url = new URL(address)
  url.username = ''
  url.password = ''
  return url.href
}

/**
 * Makes a project whose repository a job will fill: no repository is there until it has. Throws what the database
 * throws for a path or name that is taken.
 */
export async function createPendingProject(
  instance: Instance,
  project: New,
  origin: Origin,
): Promise<Project> {
  const { db, vault } = instance
  const id = await takeId(instance)
  return db.transaction(async (tx) => {
    const row = await create(tx, { ...project, id, default_branch: null })
    const source = origin.kind === 'url' ? origin.url : String(origin.projectId)
    await tx.run(insertImport, {
      project_id: id,
      kind: origin.kind,
      url: origin.kind === 'url' ? withoutCredentials(origin.url) : null,
      source: vault.seal(source),
    })
    await enqueue(tx, importRepository, { project_id: id }, `fill_repository ${id}`)
    return row
  })
}

/** Copies a repository to where a project waits for it. What cannot be read is noted, and leaves an empty one. */
export const importRepository: Job<{ project_id: number }> = {
  name: 'fill_repository',
  slow: true,
  run: async (instance, { project_id }) => {
    const { db, git, settings } = instance
    const row = await db.one(begin, { project_id })
    if (row === undefined || row.source === null) return
    const path = repositoryPath(project_id)
    const fault = await fill(instance, row, path)
    const state = await stateOf(git.repository(path))
    await db
      .transaction(async (tx) => {
        await tx.run(settle, { project_id, ...state })
        if (state.default_branch !== null && !state.empty_repo)
          await protectDefaultBranch(tx, settings, { id: project_id, default_branch: state.default_branch })
        await enqueue(tx, measureRepository, { project_id }, `measure_repository ${project_id}`)
        if ((await tx.run(end, { project_id, error: fault ?? null })) === 0) throw new Gone()
      })
      .catch(async (error: unknown) => {
        if (!(error instanceof Gone) && !violates(error, 'protected_branches_project_id_fkey')) throw error
        // The project was removed meanwhile.
        await rm(git.directory(path), { recursive: true, force: true })
      })
  },
}

class Gone extends Error {}

/** Why it could not be filled, or undefined when it was: a run before this one may have got so far. */
async function fill(instance: Instance, row: ProjectImport, path: string): Promise<string | undefined> {
  const { git, vault } = instance
  if (row.source === null || (await git.repository(path).exists())) return undefined
  const source = vault.open(row.source)
  const from = row.kind === 'fork' ? git.directory(repositoryPath(Number(source))) : source
  try {
    await fillFrom(instance, path, { from })
    return undefined
  } catch (error) {
    const fault = faultOf(error)
    if (fault === undefined) throw error
    // Another run took this one for dead and finished first.
    if (await git.repository(path).exists()) return undefined
    await createEmpty(git, path, 'main')
    return fault
  }
}

/** The message for the owner; undefined for errors that a retry may solve. */
function faultOf(error: unknown): string | undefined {
  if (error instanceof ForbiddenAddress) return error.message
  if (isGitError(error, 'exit')) return 'The repository could not be read'
  if (isGitError(error, 'refused')) return 'The repository cannot be imported'
  if (isGitError(error, 'too_large')) return 'The repository is larger than an import may be'
  if (isGitError(error, 'timeout')) return 'The repository could not be read in time'
  return undefined
}
