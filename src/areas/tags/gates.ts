import { Type as t } from 'typebox'
import { isRefName } from '../../git/names.ts'
import type { Repository } from '../../git/repository.ts'
import { loads, type Has } from '../../http/gate.ts'
import { notFound } from '../../http/problems.ts'
import type { TagRow } from './entity.ts'
import { TAGS, complete } from './store.ts'

type Held = TagRow & { readonly updated_at: Date }

export const tag = loads({
  param: 'tag_name',
  type: t.String(),
  as: 'tag',
  says: 'a tag of the repository',
  missing: () => notFound('Tag'),
  find: async ({ repository }: Has<{ repository: Repository }>, name): Promise<Held | undefined> => {
    const id = isRefName(name) ? await repository.ref(TAGS + name) : undefined
    if (id === undefined) return undefined
    const row = await complete(repository, { name, id })
    return { ...row, updated_at: new Date((row.commit?.author.date.seconds ?? 0) * 1000) }
  },
})
