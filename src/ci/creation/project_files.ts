import { findStart } from '../../core/places/fork_network.ts'
import { repositoryPath } from '../../core/places/projects.ts'
import type { Repository } from '../../git/repository.ts'
import type { Instance } from '../../instance.ts'
import type { CompileContext, ProjectFiles } from '../config/context.ts'

/** A file of more bytes is not read: a text of that length stands for it, and is refused for its length. */
const MAX_READ_BYTES = 2 * 1_048_576

/** The files of a repository at a commit, as configurations read them. */
export const filesAt = (
  repository: Pick<Repository, 'entry' | 'blob' | 'fileSizes'>,
  { project, sha }: Pick<ProjectFiles, 'project' | 'sha'>,
): ProjectFiles => ({
  project,
  sha,
  read: async (path) => {
    const entry = await repository.entry(sha, path)
    const blob = entry?.type === 'blob' ? await repository.blob(entry.id) : undefined
    if (blob === undefined) return undefined
    return blob.size > MAX_READ_BYTES
      ? '#'.repeat(MAX_READ_BYTES + 1)
      : (await blob.read(MAX_READ_BYTES)).toString()
  },
  paths: async () => {
    const paths: string[] = []
    for await (const { path } of repository.fileSizes(sha)) paths.push(path)
    return paths
  },
})

/** A project without commits. */
export const noFiles = (project: string): ProjectFiles => ({
  project,
  sha: '',
  read: async () => undefined,
  paths: async () => [],
})

/** A project that another one includes from, with the role that the pipeline's user holds there. */
export type OtherProject = NonNullable<Awaited<ReturnType<typeof findStart>>>

/** Opens other projects as a user may read their code; a hidden project is as good as none. */
export const projectOpener =
  (
    { db, git }: Pick<Instance, 'db' | 'git'>,
    userId: number | null,
    mayRead: (project: OtherProject) => boolean,
  ): CompileContext['openProject'] =>
  async (path, ref) => {
    const found = /^\d+$/.test(path) ? undefined : await findStart(db, path, userId)
    if (found === undefined || !mayRead(found)) return 'project'
    const repository = git.repository(repositoryPath(found.id))
    const sha = (await repository.exists()) ? await repository.resolve(ref ?? 'HEAD') : undefined
    return sha === undefined ? 'ref' : filesAt(repository, { project: path, sha })
  }
