import { sql } from 'kysely'
import type { Db } from '../../db/db.ts'
import { statement, type Slots } from '../../db/statement.ts'
import type { Repository } from '../../git/repository.ts'
import type { Instance } from '../../instance.ts'
import { repositoryPath } from '../places/projects.ts'

const HEADS = 'refs/heads/'
/** Entries of the root that are looked through. */
const MAX_ENTRIES = 10_000
/** Endings of readmes, the most readable first, as users know their order: with markup before plain text. */
const ENDINGS = [
  'md mkd mdwn mdown markdown',
  'rst adoc ad asciidoc org textile rdoc pod wiki mediawiki creole',
  '',
  'txt',
].map((words) => new Set(words.split(' ')))

/** The file at the root of a branch that tells of the project; '' where there is none. */
export async function findReadme(repository: Repository, branch: string): Promise<string> {
  const tip = await repository.ref(HEADS + branch)
  const commit = tip === undefined ? undefined : await repository.commit(tip)
  if (commit === undefined) return ''
  const entries = await repository.entries(commit.tree, { path: '', skip: 0, limit: MAX_ENTRIES })
  const names = (entries ?? []).filter(({ type }) => type === 'blob').map(({ name }) => name)
  return chooseReadme(names)
}

/** Of the names of a directory's files that of its readme; '' where none is one. */
function chooseReadme(names: readonly string[]): string {
  const rank = (name: string): number => {
    const [, ending = ''] = /^readme(?:\.(\w+))?$/i.exec(name) ?? [name, '-']
    return ENDINGS.findIndex((endings) => endings.has(ending.toLowerCase()))
  }
  const [best] = names
    .map((name) => ({ name, rank: rank(name) }))
    .filter((one) => one.rank >= 0)
    .toSorted((a, b) => a.rank - b.rank)
  return best?.name ?? ''
}

const unknown = statement(
  (p: Slots<{ after: number }>) => sql<{ id: number }>`
    select id from projects where readme_path is null and not empty_repo and id > ${p.after} order by id limit 100`,
)
const note = statement(
  (p: Slots<{ id: number; readme_path: string }>) => sql`
    update projects set readme_path = ${p.readme_path} where id = ${p.id} and readme_path is null`,
)

/** Looks for the readmes of projects that are older than the column. */
export async function findMissingReadmes({ db, git }: Pick<Instance, 'db' | 'git'>): Promise<void> {
  for (let page = await next(db, 0); page.length > 0; page = await next(db, page.at(-1) ?? 0))
    for (const id of page) {
      const repository = git.repository(repositoryPath(id))
      const branch = await repository.defaultBranch()
      const readme_path = branch === undefined ? '' : await findReadme(repository, branch)
      await db.run(note, { id, readme_path })
    }
}
const next = async (db: Db, after: number): Promise<number[]> =>
  (await db.rows(unknown, { after })).map(({ id }) => id)
