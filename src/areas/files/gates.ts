import { Type as t } from 'typebox'
import type { Commit } from '../../git/objects/commit.ts'
import { treePath } from '../../git/names.ts'
import type { Repository } from '../../git/repository.ts'
import type { Blob, Entry } from '../../git/objects/tree.ts'
import { loads, type Gate, type Has } from '../../http/gate.ts'
import { badParams, notFound, type Problem } from '../../http/problems.ts'

/** The commit that the parameter `ref` names: a branch, a tag or a hash; HEAD where there is none. */
export const commitAtRef: Gate<
  'checks',
  never,
  { repository: Repository; params: { ref?: string } },
  { commit: Commit }
> = {
  kind: 'checks',
  says: 'a commit by `ref`',
  refuses: () => notFound('Commit'),
  pass: async ({ repository, params }) => {
    const sha = await repository.resolve(params.ref || 'HEAD')
    const commit = sha === undefined ? undefined : await repository.commit(sha)
    return commit && { commit }
  },
}

export const badPath = (): Problem => badParams(['file_path should be a valid file path'])

/** A file with its place in the tree. */
export interface Opened {
  readonly entry: Entry
  readonly blob: Blob
}

type Here = Has<{ repository: Repository; commit: Commit }>

export const file = loads({
  param: 'file_path',
  type: t.String({ description: 'The URL-encoded full path of the file' }),
  as: 'file',
  says: 'a file of that commit',
  missing: () => notFound('File'),
  find: async ({ repository, commit }: Here, path): Promise<Opened | undefined> => {
    if (treePath(path) === undefined) throw badPath()
    const entry = await repository.entry(commit.tree, path)
    const blob = entry?.type === 'blob' ? await repository.blob(entry.id) : undefined
    return entry && blob && { entry, blob }
  },
})
