import { violates } from '../../db/errors.ts'
import type { Instance } from '../../instance.ts'
import { createWithRepository } from './import.ts'
import { findTargetNamespace, limitFault } from '../places/target_namespace.ts'
import { faultsOf, limitText, mayFill, type TargetNamespace } from '../places/project_rules.ts'
import { mayPush, ruleWhileEmpty } from '../repositories/protected_branches.ts'
import { ROLES, type Viewer } from '../sight/roles.ts'

/** Where a push makes a project. */
export interface NewPlace {
  readonly home: TargetNamespace
  readonly path: string
}

/** Thrown when the project cannot be made; the message is for people. */
export class CreationRefused extends Error {}

/** The place of a project that a push to the full path makes; undefined where the caller makes none. */
export async function placeToMake(
  { db, settings }: Pick<Instance, 'db' | 'settings'>,
  actor: Viewer,
  fullPath: string,
): Promise<NewPlace | undefined> {
  const slash = fullPath.lastIndexOf('/')
  const [above, path] = [fullPath.slice(0, slash), fullPath.slice(slash + 1)]
  if (slash < 1 || Object.keys(faultsOf({ name: path, path })).length > 0) return undefined
  // Paths made of digits are looked up as ids.
  const home = /^\d+$/.test(above) ? undefined : await findTargetNamespace(db, actor, above)
  if (home === undefined || !mayFill(actor, home)) return undefined
  const role = home.owner_id === actor.id ? ROLES.owner : home.role
  // A project whose first branch the caller may not push would stay empty.
  const pushes = mayPush(ruleWhileEmpty(settings), { id: actor.id, role, admin: actor.admin })
  return pushes ? { home, path } : undefined
}

/** Makes a private project without a commit and returns its full path. Throws CreationRefused. */
export async function makeForPush(
  instance: Instance,
  actor: Viewer,
  { home, path }: NewPlace,
): Promise<string> {
  const limited = await limitFault(instance.db, home)
  if (limited !== undefined) throw new CreationRefused(limited)
  const wanted = { namespace: home, creator_id: actor.id, name: path, path, visibility: 'private' } as const
  try {
    return (await createWithRepository(instance, wanted)).full_path
  } catch (error) {
    if (violates(error, 'projects_limit'))
      throw new CreationRefused((await limitFault(instance.db, home)) ?? limitText(0), { cause: error })
    if (violates(error, 'projects_name_key'))
      throw new CreationRefused('Name has already been taken', { cause: error })
    if (violates(error, 'routes_pkey') || violates(error, 'projects_full_path_key'))
      throw new CreationRefused('Path has already been taken', { cause: error })
    throw error
  }
}
