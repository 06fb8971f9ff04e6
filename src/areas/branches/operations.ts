import { Type as t } from 'typebox'
import { code } from '../../access/code_gates.ts'
import type { Project } from '../../core/projects.ts'
import { pushRules } from '../../core/protected_branches.ts'
import { searching } from '../../core/ref_search.ts'
import type { Commit } from '../../git/commit.ts'
import { isRefName } from '../../git/names.ts'
import type { Repository } from '../../git/repository.ts'
import { loads, operation, pageOf, type Has } from '../../http/operation.ts'
import { badParams, notFound, refused } from '../../http/problems.ts'
import { oneOf } from '../../http/schema.ts'
import { Branch, present, type BranchRow } from './entity.ts'
import { isPattern } from './rules.ts'
import { matching } from './store.ts'

const HEADS = 'refs/heads/'

type Here = Has<{ project: Project; repository: Repository }>
interface Found {
  readonly name: string
  readonly id: string
}

const badRegex = (): ReturnType<typeof badParams> => badParams(['regex is invalid'])
const badName = (): ReturnType<typeof refused> => refused('The branch refname is invalid')
const noRepository = (): ReturnType<typeof notFound> => notFound('Repository')

export const listBranches = operation({
  method: 'GET',
  path: '/projects/:id/repository/branches',
  summary: 'List branches, by name',
  published: true,
  first: code,
  params: t.Object(
    {
      search: t.Optional(
        t.String({ description: 'Part of the name; `^` before its beginning, `$` after its end' }),
      ),
      regex: t.Optional(t.String({ description: 'A regular expression that finds the name' })),
      sort: t.Optional(oneOf(['name_asc', 'updated_asc', 'updated_desc'], { default: 'name_asc' })),
    },
    { atMostOne: ['search', 'regex'] },
  ),
  gates: [],
  handle: async (ctx) => {
    const { repository, params, page } = ctx
    if (!(await repository.exists())) throw noRepository()
    const all = await sorted(repository, params.sort ?? 'name_asc')
    const found = await filtered(ctx, all, params)
    const some = found.slice(page.offset, page.offset + page.size)
    const rows = await rowsOf(ctx, some)
    return { items: rows.map((row) => present(row, ctx)), total: found.length }
  },
  returns: pageOf(Branch),
  refuses: [noRepository, badRegex],
})

async function sorted(repository: Repository, sort: string): Promise<Found[]> {
  const refs =
    sort === 'name_asc' ? await repository.refs(HEADS) : await repository.sortedRefs(HEADS, 'updated')
  const found = refs.map(({ name, id }) => ({ name: name.slice(HEADS.length), id }))
  return sort === 'updated_desc' ? found.toReversed() : found
}

async function filtered(
  { db }: Here,
  all: Found[],
  { search = '', regex = '' }: { search?: string; regex?: string },
): Promise<Found[]> {
  if (search !== '') {
    const matches = searching(search)
    return all.filter(({ name }) => matches(name))
  }
  if (regex === '') return all
  if (!isPattern(regex)) throw badRegex()
  const names = await matching(
    db,
    all.map(({ name }) => name),
    regex,
  ).catch((error: unknown) => {
    // 2201B: no regular expression. 57014: it took too long. 54001, 53400: too complex.
    if (error instanceof Error && 'code' in error && /^(2201B|57014|54|53)/.test(String(error.code)))
      throw badRegex()
    throw error
  })
  const kept = new Set(names)
  return all.filter(({ name }) => kept.has(name))
}

/** What is told of branches beside their names, asked for all of them at once. */
async function rowsOf({ db, project, repository }: Here, some: readonly Found[]): Promise<BranchRow[]> {
  const tip =
    project.default_branch === null ? undefined : await repository.ref(HEADS + project.default_branch)
  const [ruleOf, merged, commits] = await Promise.all([
    pushRules(db, project),
    tip === undefined
      ? new Set<string>()
      : repository.mergedInto(
          tip,
          some.map(({ name }) => HEADS + name),
        ),
    Promise.all(some.map(({ id }) => repository.commit(id))),
  ])
  return some.flatMap(({ name, id }, i) => {
    const commit = commits[i]
    if (commit === undefined) return []
    // What stands where the default branch stands has nothing of its own yet, and is not merged.
    return [{ name, commit, merged: id !== tip && merged.has(HEADS + name), rule: ruleOf(name) }]
  })
}

/** A branch with its commit; it changed last when that was written. */
interface Held {
  readonly name: string
  readonly commit: Commit
  readonly updated_at: Date
}

const branch = loads({
  param: 'branch',
  type: t.String(),
  as: 'branch',
  says: 'a branch of the repository',
  missing: () => notFound('Branch'),
  find: async ({ repository }: Here, name): Promise<Held | undefined> => {
    if (!isRefName(name)) throw badName()
    const id = await repository.ref(HEADS + name)
    const commit = id === undefined ? undefined : await repository.commit(id)
    return commit && { name, commit, updated_at: new Date(commit.author.date.seconds * 1000) }
  },
})

export const getBranch = operation({
  method: 'GET',
  path: '/projects/:id/repository/branches/:branch',
  summary: 'Get a branch',
  published: true,
  first: code,
  gates: [branch],
  handle: async (ctx) => {
    const { branch } = ctx
    const [row] = await rowsOf(ctx, [{ name: branch.name, id: branch.commit.id }])
    if (row === undefined) throw notFound('Branch')
    return present(row, ctx)
  },
  returns: Branch,
  refuses: [badName],
})
