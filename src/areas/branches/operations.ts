import { Type as t } from 'typebox'
import { code, filledRepository, signedInHere } from '../../access/gates/code_gates.ts'
import { developer } from '../../access/gates/gates.ts'
import { committed, pushRight } from '../../access/gates/push_gates.ts'
import { commitChanges, isBranchName } from '../../core/pushes/commit_writing.ts'
import { mayPush, pushRules } from '../../core/repositories/protected_branches.ts'
import { searching } from '../../core/repositories/ref_search.ts'
import { moveNamed } from '../../core/pushes/ref_writing.ts'
import { isGitError } from '../../git/errors.ts'
import { Answer, nothing, operation, pageOf } from '../../http/operation.ts'
import { badParams, forbidden, notFound, refused, rejected, type Problem } from '../../http/problems.ts'
import { oneOf } from '../../http/params/schema.ts'
import { Branch, present } from './entity.ts'
import { badRefName, branch } from './gates.ts'
import { isPattern, mayDelete } from './rules.ts'
import { HEADS, complete, listFound, listMerged, matching, type Found } from './store.ts'

const badRegex = (): Problem => badParams(['regex is invalid'])

export const listBranches = operation({
  method: 'GET',
  path: '/projects/:id/repository/branches',
  summary: 'List branches, by name',
  published: true,
  first: code,
  params: t.Object({
    search: t.Optional(
      t.String({ description: 'Part of the name; `^` before its beginning, `$` after its end' }),
    ),
    regex: t.Optional(t.String({ description: 'A regular expression that finds the name' })),
    sort: oneOf(['name_asc', 'updated_asc', 'updated_desc'], { default: 'name_asc' }),
  }),
  gates: [filledRepository],
  handle: async (ctx) => {
    const { db, repository, params, page } = ctx
    const { search = '', regex = '' } = params
    let found: Found[] = await listFound(repository, params.sort)
    if (search !== '') {
      const matches = searching(search)
      found = found.filter(({ name }) => matches(name))
    }
    if (regex !== '') {
      const names = found.map(({ name }) => name)
      const matches = isPattern(regex) ? await matching(db, names, regex) : undefined
      if (matches === undefined) throw badRegex()
      found = found.filter(({ name }) => matches.has(name))
    }
    const rows = await complete(ctx, found.slice(page.offset, page.offset + page.limit))
    return { items: rows.map((row) => present(row, ctx)), total: found.length }
  },
  returns: pageOf(Branch),
  refuses: [badRegex],
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
    const [row] = await complete(ctx, [{ name: branch.name, id: branch.commit.id }])
    if (row === undefined) throw notFound('Branch')
    return present(row, ctx)
  },
  returns: Branch,
  refuses: [badRefName],
})

type Empty = Parameters<typeof pushRight>[0] & Parameters<typeof commitChanges>[0]

/** Gives an empty repository its default branch, with a first commit to branch from, as published. */
async function beginDefaultBranch(ctx: Empty): Promise<void> {
  const branch = ctx.project.default_branch ?? 'main'
  if (!(await pushRight(ctx, branch)).pushes) throw closed()
  const changes = [{ action: 'create', path: 'README.md', content: Buffer.alloc(0) }] as const
  await committed(commitChanges(ctx, { branch, message: 'Add README.md', changes }))
}

const badName = (): Problem => refused('Branch name is invalid')
const taken = (): Problem => refused('Branch already exists')
const badStart = (ref = ''): Problem => refused(`Invalid reference name: ${ref}`)
const closed = (): Problem => forbidden('You are not allowed to push into this branch')

export const createBranch = operation({
  method: 'POST',
  path: '/projects/:id/repository/branches',
  summary: 'Create a branch',
  published: true,
  moves: 'refs',
  first: [...code, signedInHere],
  params: t.Object({
    branch: t.String({ description: 'The name of the new branch' }),
    ref: t.String({ description: 'The branch, tag or commit that it starts from' }),
  }),
  gates: [developer, filledRepository],
  handle: async (ctx) => {
    const { db, project, repository, actor, params } = ctx
    const { branch: name, ref } = params
    if (!isBranchName(name)) throw badName()
    const rule = (await pushRules(db, project))(name)
    if (!mayPush(rule, { id: actor.id, role: project.role, admin: actor.admin })) throw closed()
    if (await repository.isEmpty()) await beginDefaultBranch(ctx)
    const to = await repository.resolve(ref)
    if (to === undefined) throw badStart(ref)
    const full = HEADS + name
    await moveNamed(ctx, [full], async (held) => {
      if (held.get(full) !== undefined) throw taken()
      return [{ ref: full, from: undefined, to }]
    }).catch((error: unknown) => {
      // Another process was first, or `a` stands where `a/b` is to be.
      throw isGitError(error, 'moved') ? taken() : isGitError(error, 'refused') ? badName() : error
    })
    const [row] = await complete(ctx, [{ name, id: to }])
    if (row === undefined) throw new Error('a branch that was made cannot be read')
    return present(row, ctx)
  },
  returns: Branch,
  refuses: [badName, taken, badStart, closed],
})

const isDefault = (): Problem => rejected('Cannot remove HEAD branch')
const isProtected = (): Problem =>
  forbidden(
    'You are not allowed to delete protected branches from this project. Only a project maintainer or owner can delete a protected branch.',
  )

export const deleteBranch = operation({
  method: 'DELETE',
  path: '/projects/:id/repository/branches/:branch',
  summary: 'Delete a branch',
  published: true,
  moves: 'refs',
  first: [...code, signedInHere],
  gates: [developer, branch],
  handle: async (ctx) => {
    const { db, project, repository, actor, branch } = ctx
    if (branch.name === project.default_branch) throw isDefault()
    const rule = (await pushRules(db, project))(branch.name)
    if (!mayDelete(rule, { id: actor.id, role: project.role, admin: actor.admin })) throw isProtected()
    const ref = HEADS + branch.name
    await moveNamed(ctx, [ref], async (held) => {
      const from = held.get(ref)
      if (from === undefined) throw notFound('Branch')
      // It may have become so meanwhile.
      if ((await repository.defaultBranch()) === branch.name) throw isDefault()
      return [{ ref, from, to: undefined }]
    })
    return null
  },
  returns: nothing,
  refuses: [badRefName, isDefault, isProtected],
})

const Accepted = t.Object({ message: t.String() })

export const deleteMergedBranches = operation({
  method: 'DELETE',
  path: '/projects/:id/repository/merged_branches',
  summary: 'Delete the merged branches, except protected ones',
  published: true,
  moves: 'refs',
  first: [...code, signedInHere],
  gates: [developer, filledRepository],
  handle: async (ctx) => {
    const [ruleOf, merged] = await Promise.all([pushRules(ctx.db, ctx.project), listMerged(ctx)])
    const going = new Map(
      merged.filter(({ name }) => ruleOf(name) === undefined).map(({ name, id }) => [HEADS + name, id]),
    )
    // A branch that moved since the check has commits of its own again.
    await moveNamed(ctx, [...going.keys()], async (held) => {
      const head = await ctx.repository.defaultBranch()
      return [...going]
        .filter(([ref, id]) => held.get(ref) === id && ref !== `${HEADS}${head}`)
        .map(([ref, id]) => ({ ref, from: id, to: undefined }))
    })
    return new Answer(202, { message: '202 Accepted' })
  },
  returns: Accepted,
  status: 202,
})
