import { Type as t } from 'typebox'
import { repositoryPath, type Project } from '../../core/places/projects.ts'
import type { Group } from '../../core/places/groups.ts'
import { findRedirect } from '../../core/places/project_redirects.ts'
import { ROLES, ROLE_NAMES, canSee, type RoleName } from '../../core/sight/roles.ts'
import type { Repository } from '../../git/repository.ts'
import { allows, loads, type Actor, type Allows, type Context, type Gate, type Has } from '../../http/gate.ts'
import { Redirect, hasMoved } from '../../http/redirect.ts'
import { forbidden, notFound, unauthorized } from '../../http/problems.ts'

/** A token is needed; from here on there is an actor. */
export const signedIn: Allows<object, { actor: Actor }> = {
  kind: 'allows',
  says: 'a signed-in user',
  refuses: unauthorized,
  pass: ({ actor }) => (actor === null ? undefined : { actor }),
}

/** For what everybody may ask who got this far; what they see is decided record by record. */
export const anyone = allows({ says: 'anyone', refuses: unauthorized, holds: () => true })

export const administrator = allows({
  says: 'an administrator',
  refuses: forbidden,
  holds: ({ actor }) => actor?.admin === true,
})

const seenProject = {
  param: 'id',
  type: t.String({ description: 'The id or the URL-encoded full path of the project' }),
  as: 'project',
  preload: 'project',
  missing: () => notFound('Project'),
} as const
const reads = ({ method }: Context): boolean => method === 'GET' || method === 'HEAD'
const findSeen = (ctx: Context, ref: string): Promise<undefined> | Project | undefined => {
  const found = ctx.preloaded as Project | undefined
  const sees = found && canSee(ctx.actor, found.visibility, found.role, ROLES.guest)
  return sees ? found : lookWhereItMoved(ctx, ref)
}

async function findUnarchived(ctx: Context, ref: string): Promise<Project | undefined> {
  const found = await findSeen(ctx, ref)
  if (found?.archived && (ctx.actor ?? ctx.deployTokenId) !== null && !reads(ctx)) throw forbidden()
  return found
}

/** Finds nothing, but leads on from the address that a project had before. */
async function lookWhereItMoved(ctx: Context, ref: string): Promise<undefined> {
  const { actor, config, db } = ctx
  const moved = ref.includes('/') ? await findRedirect(db, ref, actor?.id ?? null) : undefined
  if (moved === undefined || !canSee(actor, moved.visibility, moved.role, ROLES.guest)) return undefined
  throw reads(ctx) ? new Redirect(moved.id, config.url) : hasMoved()
}

/**
 * A project the caller can see; to everybody else it does not exist. While it is archived nothing writes into it: what
 * still may stands behind `projectEvenArchived`.
 */
export const project = loads({
  ...seenProject,
  says: 'a project the caller can see, not archived for writes',
  find: findUnarchived,
})

/** The same for operations whose published refusal of outsiders is 403, also where there is no such project. */
export const projectOrForbidden = loads({
  ...seenProject,
  says: project.says,
  missing: forbidden,
  find: findUnarchived,
})

/** The same for what can be done to an archived project too: its own settings, its members, its end. */
export const projectEvenArchived = loads({
  ...seenProject,
  says: 'a project the caller can see',
  find: findSeen,
})

/**
 * The preloaded part of a group: whether the caller belongs to something inside, where no role on the group itself
 * shows its content.
 */
type SeenGroup = Group & { readonly belongs_below: boolean }

/** A group the caller can see: by its visibility, by a role on it, or by belonging to something inside. */
export const group = loads({
  param: 'id',
  type: t.String({ description: 'The id or the URL-encoded full path of the group' }),
  as: 'group',
  preload: 'group',
  says: 'a group the caller can see',
  missing: () => notFound('Group'),
  find: ({ actor, preloaded }): SeenGroup | undefined => {
    const found = preloaded as SeenGroup | undefined
    if (found === undefined) return undefined
    return found.belongs_below || canSee(actor, found.visibility, found.role, ROLES.minimal_access)
      ? found
      : undefined
  },
})

const inProject = (role: RoleName): Allows<{ project: Project }> =>
  allows({
    level: ROLES[role],
    says: `at least ${ROLE_NAMES.get(ROLES[role])} in the project`,
    refuses: forbidden,
    holds: ({ actor, project }: Has<{ project: Project }>) =>
      actor?.admin === true || project.role >= ROLES[role],
  })
const inGroup = (role: RoleName): Allows<{ group: Group }> =>
  allows({
    level: ROLES[role],
    says: `at least ${ROLE_NAMES.get(ROLES[role])} in the group`,
    refuses: forbidden,
    holds: ({ actor, group }: Has<{ group: Group }>) => actor?.admin === true || group.role >= ROLES[role],
  })

export const planner = inProject('planner')
export const reporter = inProject('reporter')
export const developer = inProject('developer')
export const maintainer = inProject('maintainer')
export const projectOwner = inProject('owner')
/** For what is in a group: Minimal Access shows that a private group is there, and nothing in it. */
export const insideGroup = allows({
  level: ROLES.guest,
  says: 'at least Guest in the group or in something inside, where the group is not open to the caller',
  refuses: forbidden,
  holds: ({ actor, group }: Has<{ group: SeenGroup }>) =>
    group.belongs_below || canSee(actor, group.visibility, group.role, ROLES.guest),
})
export const groupPlanner = inGroup('planner')
export const groupReporter = inGroup('reporter')
export const groupDeveloper = inGroup('developer')
export const groupMaintainer = inGroup('maintainer')
export const groupOwner = inGroup('owner')

/** The project's repository, unless it is switched off for the caller. */
export const repository: Gate<'checks', never, { project: Project }, { repository: Repository }> = {
  kind: 'checks',
  says: 'a repository enabled for the caller',
  refuses: () => notFound('Repository'),
  pass: async ({ actor, git, project }) =>
    hasRepository(actor, project) ? { repository: git.repository(repositoryPath(project.id)) } : undefined,
}

/** Columns of a project that decide who may read its code. */
type CodeOf = Pick<Project, 'role' | 'visibility' | 'repository_access_level'>

/** Whether the project's repository is switched on for the caller. */
function hasRepository(actor: Actor | null, project: CodeOf): boolean {
  const level = project.repository_access_level
  const belongs = actor?.admin === true || project.role >= ROLES.guest
  return level === 'enabled' || (level === 'private' && belongs)
}

/** Whether the caller, who sees the project, may read its code: where it is switched off, nobody may. */
export const mayReadCode = (actor: Actor | null, project: CodeOf): boolean =>
  hasRepository(actor, project) &&
  (actor?.admin === true ||
    project.role >= ROLES.reporter ||
    (project.visibility !== 'private' && project.repository_access_level === 'enabled'))

/** Code is open where the project is; in a private one it takes a Reporter. */
export const readsCode = allows({
  says: 'the right to read code: at least Reporter where the project or repository is private',
  refuses: forbidden,
  holds: ({ actor, project }: Has<{ project: Project }>) => mayReadCode(actor, project),
})
