import { Type as t } from 'typebox'
import type { Commit } from '../../git/objects/commit.ts'
import { isRefName } from '../../git/names.ts'
import type { Repository } from '../../git/repository.ts'
import { loads, type Has } from '../../http/gate.ts'
import { notFound, refused, type Problem } from '../../http/problems.ts'
import { HEADS } from './store.ts'

/** A branch with its commit; it changed last when that was written. */
interface Held {
  readonly name: string
  readonly commit: Commit
  readonly updated_at: Date
}

export const badRefName = (): Problem => refused('The branch refname is invalid')

export const branch = loads({
  param: 'branch',
  type: t.String(),
  as: 'branch',
  says: 'a branch of the repository',
  missing: () => notFound('Branch'),
  find: async ({ repository }: Has<{ repository: Repository }>, name): Promise<Held | undefined> => {
    if (!isRefName(name)) throw badRefName()
    const id = await repository.ref(HEADS + name)
    const commit = id === undefined ? undefined : await repository.commit(id)
    return commit && { name, commit, updated_at: new Date(commit.author.date.seconds * 1000) }
  },
})
