import type { Repository } from '../../git/repository.ts'
import type { CompileContext, ProjectFiles } from '../config/context.ts'

/** Bytes of one file of a configuration that are read; a longer one is cut, which the limits then refuse. */
const MAX_FILE_BYTES = 1_100_000
/** Paths of a tree that globs look at. */
const MAX_PATHS = 100_000

/** The files of a commit, as configurations read them. */
export function filesAt(repository: Repository, project: string, sha: string): ProjectFiles {
  let paths: Promise<readonly string[]> | undefined
  return {
    project,
    sha,
    read: async (path) => {
      const entry = await repository.entry(sha, path.replace(/^\/+/, ''))
      const blob = entry?.type === 'blob' ? await repository.blob(entry.id) : undefined
      if (blob === undefined) return undefined
      return blob.size > MAX_FILE_BYTES
        ? ' '.repeat(MAX_FILE_BYTES)
        : (await blob.read(MAX_FILE_BYTES)).toString()
    },
    paths: () =>
      (paths ??= (async () => {
        const query = { path: '', recursive: true, skip: 0, limit: MAX_PATHS }
        const entries = (await repository.entries(sha, query)) ?? []
        return entries.filter(({ type }) => type === 'blob').map(({ path }) => path)
      })()),
  }
}

/**
 * The paths that a pipeline's commits change: from `base`, or from the merge base with another ref. Null where there is no
 * list to go by, because there is no base or the difference is too large to be read.
 */
export function changedPathsOf(
  repository: Repository,
  sha: string,
  base: string | null,
): CompileContext['changedPaths'] {
  return async (compareTo) => {
    let from = base
    if (compareTo !== undefined) {
      const other = await repository.resolve(compareTo)
      if (other === undefined) return 'ref'
      from = (await repository.mergeBase(other, sha)) ?? other
    }
    if (from === null || (await repository.commit(from)) === undefined) return null
    const { files, complete } = await repository.patch(from, sha)
    return complete ? [...new Set(files.flatMap(({ oldPath, newPath }) => [oldPath, newPath]))] : null
  }
}
