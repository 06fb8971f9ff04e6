import { existing } from '../../db/rows.ts'
import { Type as t } from 'typebox'
import { developer, maintainer, project, readsCode, repository, signedIn } from '../../access/gates/gates.ts'
import type { Project } from '../../core/places/projects.ts'
import { violates } from '../../db/errors.ts'
import { allows, loads, type Has } from '../../http/gate.ts'
import { nothing, operation, pageOf } from '../../http/operation.ts'
import { badParams, conflict, forbidden, unprocessable, type Problem } from '../../http/problems.ts'
import { LEVELS, ProtectedBranch, present, type ProtectedBranchRow } from './entity.ts'
import { changedLevels, missingIn, nameFault, newLevels } from './rules.ts'
import * as protectedBranches from './store.ts'
import { presentPage } from '../../http/answers/pages.ts'

/** Branches are hidden without the right to read code. */
const first = [signedIn, project, repository, readsCode] as const

const NUMBERS = Object.keys(LEVELS).map(Number)
const level = t.Unsafe<number>({ type: 'integer', enum: NUMBERS })
/** A branch keeps at least one level that may unprotect it. */
const openLevel = t.Unsafe<number>({ type: 'integer', enum: NUMBERS.filter((number) => number > 0) })

const user_id = t.Optional(t.Integer({ description: 'One user, in place of a level' }))
const granted = t.Array(t.Object({ access_level: t.Optional(level), user_id }))
const opened = t.Array(t.Object({ access_level: t.Optional(openLevel), user_id }))

const known = {
  id: t.Optional(t.Integer()),
  _destroy: t.Optional(t.Boolean({ description: 'Takes the level with this id away' })),
}
const changed = t.Array(t.Object({ ...known, access_level: t.Optional(level), user_id }))
const changedOpen = t.Array(t.Object({ ...known, access_level: t.Optional(openLevel), user_id }))

const protectedBranch = loads({
  param: 'name',
  type: t.String({ description: 'The name as it was protected, wildcards included' }),
  as: 'branch',
  says: 'a protected branch of the project',
  find: ({ db, project }: Has<{ project: Project }>, name) => protectedBranches.find(db, project.id, name),
})

/** Maintainers, or fewer where the protection says so. */
const unprotects = allows({
  says: 'the right to unprotect the branch',
  refuses: forbidden,
  holds: ({ actor, project, branch }: Has<{ project: Project; branch: ProtectedBranchRow }>) => {
    const levels = branch.levels.filter(({ action }) => action === 'unprotect')
    const roles = levels.filter((one) => one.user_id === null)
    const least = Math.min(...roles.map(({ access_level }) => access_level))
    const named = levels.some((one) => one.user_id !== null && one.user_id === actor?.id)
    return actor?.admin === true || levels.length === 0 || project.role >= least || named
  },
})

export const listProtectedBranches = operation({
  method: 'GET',
  path: '/projects/:id/protected_branches',
  summary: 'List the protected branches of a project',
  published: true,
  first,
  params: t.Object({ search: t.Optional(t.String({ description: 'Part of the name' })) }),
  gates: [developer],
  handle: async ({ db, project, params, page }) => {
    const query = { project_id: project.id, search: params.search ?? '' }
    const found = await protectedBranches.list(db, { ...query, ...page })
    return presentPage(found, present)
  },
  returns: pageOf(ProtectedBranch),
})

export const getProtectedBranch = operation({
  method: 'GET',
  path: '/projects/:id/protected_branches/:name',
  summary: 'Get a protected branch or wildcard',
  published: true,
  first,
  gates: [developer, protectedBranch],
  handle: async ({ branch }) => present(branch),
  returns: ProtectedBranch,
})

const noAccess = (): Problem =>
  unprocessable(['Cannot add users or groups unless they have access to the project'])

const exists = (name = 'NAME'): Problem => conflict(`Protected branch '${name}' already exists`)

export const createProtectedBranch = operation({
  method: 'POST',
  path: '/projects/:id/protected_branches',
  summary: 'Protect a branch, or many by a wildcard',
  published: true,
  first,
  params: t.Object({
    name: t.String(),
    push_access_level: t.Optional(level),
    merge_access_level: t.Optional(level),
    unprotect_access_level: t.Optional(openLevel),
    allow_force_push: t.Boolean({ default: false }),
    allowed_to_push: t.Optional(granted),
    allowed_to_merge: t.Optional(granted),
    allowed_to_unprotect: t.Optional(opened),
  }),
  gates: [maintainer],
  handle: async (ctx) => {
    const { db, project, params } = ctx
    const { name } = params
    const missing = LISTS.flatMap((list) => missingIn(list, params[list]))
    if (missing.length > 0) throw badParams(missing)
    const fault = nameFault(name)
    if (fault !== undefined) throw unprocessable([fault])
    if (await protectedBranches.find(db, project.id, name)) throw exists(name)
    const values = { project_id: project.id, name, allow_force_push: params.allow_force_push }
    const id = await protectedBranches.insert(db, values).catch((error: unknown) => {
      throw violates(error, 'protected_branches_name_key') ? exists(name) : error
    })
    await change(ctx, id, [
      newLevels('push', params.push_access_level, params.allowed_to_push),
      newLevels('merge', params.merge_access_level, params.allowed_to_merge),
      newLevels('unprotect', params.unprotect_access_level, params.allowed_to_unprotect),
    ])
    return present(existing(await protectedBranches.find(db, project.id, name)))
  },
  returns: ProtectedBranch,
  refuses: [exists, noAccess],
})

const LISTS = ['allowed_to_push', 'allowed_to_merge', 'allowed_to_unprotect'] as const
async function change(
  { db, project }: Has<{ project: Project }>,
  id: number,
  changes: readonly protectedBranches.LevelChange[],
): Promise<void> {
  const users = changes.flatMap((one) => one.users)
  if (users.length > 0 && !(await protectedBranches.allWrite(db, project.id, users))) throw noAccess()
  for (const one of changes) await protectedBranches.changeLevels(db, id, one)
}

export const updateProtectedBranch = operation({
  method: 'PATCH',
  path: '/projects/:id/protected_branches/:name',
  summary: 'Change the access levels of a protected branch',
  published: true,
  first,
  params: t.Object({
    allow_force_push: t.Optional(t.Boolean()),
    allowed_to_push: t.Optional(changed),
    allowed_to_merge: t.Optional(changed),
    allowed_to_unprotect: t.Optional(changedOpen),
  }),
  gates: [maintainer, protectedBranch, unprotects],
  handle: async (ctx) => {
    const { db, project, branch, params } = ctx
    if (params.allow_force_push !== undefined)
      await protectedBranches.setForcePush(db, branch.id, params.allow_force_push)
    await change(ctx, branch.id, [
      changedLevels('push', params.allowed_to_push),
      changedLevels('merge', params.allowed_to_merge),
      changedLevels('unprotect', params.allowed_to_unprotect),
    ])
    return present(existing(await protectedBranches.find(db, project.id, branch.name)))
  },
  returns: ProtectedBranch,
  refuses: [noAccess],
})

export const deleteProtectedBranch = operation({
  method: 'DELETE',
  path: '/projects/:id/protected_branches/:name',
  summary: 'Unprotect a branch or wildcard',
  published: true,
  first,
  gates: [maintainer, protectedBranch, unprotects],
  handle: async ({ db, branch }) => {
    await protectedBranches.remove(db, branch.id)
    return null
  },
  returns: nothing,
})
