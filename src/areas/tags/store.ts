import { messageBudget, readEach, type MessageBudget } from '../../core/repositories/commit_reading.ts'
import type { Repository } from '../../git/repository.ts'
import type { TagRow } from './entity.ts'

export const TAGS = 'refs/tags/'

/** A tag by its name and what its ref holds. */
interface Found {
  readonly name: string
  readonly id: string
}

type Order = 'name' | 'updated' | 'version'

/** All tags in that order. */
export async function listFound(repository: Repository, by: Order, descending: boolean): Promise<Found[]> {
  const refs = await repository.sortedRefs(TAGS, { by, descending })
  return refs.map(({ name, id }) => ({ name: name.slice(TAGS.length), id }))
}

/** How many tags of tags are followed. */
const DEPTH = 5

/** A tag with what it says and what it stands for. */
export async function complete(
  repository: Repository,
  { name, id }: Found,
  within: MessageBudget = messageBudget(),
): Promise<TagRow> {
  const own = await repository.tag(id)
  let [at, last] = [id, own]
  for (let depth = 0; last !== undefined && depth < DEPTH; depth += 1) {
    at = last.object
    last = last.type === 'tag' ? await repository.tag(at) : undefined
  }
  return {
    name,
    target: id,
    message: own && within(own.message.replace(/\n$/, '')),
    tagged: own?.tagger?.date,
    commit: (await readEach(repository, [at], within))[0],
  }
}

/** The tags of one page, one after the other: each may hold two messages of a megabyte. */
export async function completeAll(repository: Repository, some: readonly Found[]): Promise<TagRow[]> {
  const within = messageBudget()
  const rows: TagRow[] = []
  for (const one of some) rows.push(await complete(repository, one, within))
  return rows
}
