import { ROLES, canSee } from '../../core/sight/roles.ts'
import type { Project } from '../../core/places/projects.ts'
import { allows, type Allows, type Context, type Has } from '../../http/gate.ts'
import { forbidden, unauthorized } from '../../http/problems.ts'
import { group, project } from './gates.ts'

/** The `WWW-Authenticate` of package registries, as their clients know it. */
export const CHALLENGE = 'Basic realm="GitLab Packages Registry"'

/** Clients of registries send no token before they are asked for one: where they see nothing without, they are asked. */
const orAsk = <Found>({ actor, deployTokenId }: Context, found: Found | undefined): Found | undefined => {
  if (found === undefined && (actor ?? deployTokenId) === null) throw unauthorized()
  return found
}

/** A token of any kind is needed. */
export const withToken: Allows = allows({
  says: 'a signed-in user or a deploy token',
  refuses: unauthorized,
  holds: ({ actor, deployTokenId }) => (actor ?? deployTokenId) !== null,
})

/** A project whose registry is called. */
export const registryProject: typeof project = {
  ...project,
  says: 'a project the caller can see, or 401 without a token',
  pass: async (ctx, ref) => orAsk(ctx, await project.pass(ctx, ref)),
}

/** The same of a group. */
export const registryGroup: typeof group = {
  ...group,
  says: 'a group the caller can see, or 401 without a token',
  pass: async (ctx, ref) => orAsk(ctx, await group.pass(ctx, ref)),
}

/** Packages are open where the project is; in a private one they take a Reporter. */
export const readsPackages = allows({
  level: ROLES.reporter,
  says: 'at least Reporter in the project, where it is private',
  refuses: forbidden,
  holds: ({ actor, project }: Has<{ project: Project }>) =>
    project.settings['packages_enabled'] !== false &&
    canSee(actor, project.visibility, project.role, ROLES.reporter),
})

/** Published: a deploy token that may publish may delete too. */
export const mayDelete = (
  { actor, deployTokenId = null }: Pick<Context, 'actor'> & { readonly deployTokenId?: number | null },
  { role }: { readonly role: number },
): boolean => actor?.admin === true || role >= (deployTokenId === null ? ROLES.maintainer : ROLES.developer)

export const deletesPackages = allows({
  level: ROLES.maintainer,
  says: 'at least Maintainer in the project, or a deploy token that may publish',
  refuses: forbidden,
  holds: (ctx: Has<{ project: Project }>) => mayDelete(ctx, ctx.project),
})
