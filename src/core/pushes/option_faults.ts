import type { Instance } from '../../instance.ts'
import { findProjectAs } from '../places/project_roles.ts'
import { findByRef, repositoryPath } from '../places/projects.ts'
import { ROLES, canSee, type Viewer } from '../sight/roles.ts'
import { hasBadVariable, mergeRequestOptions } from './options.ts'

/** Branches whose merge requests the options of one push reach, as published. */
export const MAX_BRANCHES = 10

interface Pushing {
  readonly project: { readonly id: number }
  readonly actor: Viewer
  readonly options: readonly string[]
  /** Branches that the push creates or moves. */
  readonly branches: number
}

/** Faults of push options that are known before their jobs run, in the published words where there are any. */
export async function optionFaults(instance: Pick<Instance, 'db' | 'git'>, push: Pushing): Promise<string[]> {
  const { options, branches } = push
  const asked = mergeRequestOptions(options)
  const faults = hasBadVariable(options) ? ['ci.variable takes KEY=VALUE'] : []
  if (asked === undefined) return faults
  if (branches > MAX_BRANCHES)
    faults.push(`Too many branches pushed (${branches} were pushed, limit is ${MAX_BRANCHES})`)
  const target = await targetOf(instance, push, asked.target_project)
  if (target === undefined) faults.push(`Project ${asked.target_project} was not found`)
  else if (asked.target !== undefined && target.readable) {
    const repository = instance.git.repository(repositoryPath(target.id))
    if ((await repository.ref(`refs/heads/${asked.target}`)) === undefined)
      faults.push(`Branch ${asked.target} does not exist`)
  }
  return faults
}

/** The project that is named, and whether the caller may read its code; undefined where the caller sees none. */
async function targetOf(
  { db }: Pick<Instance, 'db'>,
  { project, actor }: Pushing,
  named: string | undefined,
): Promise<{ readonly id: number; readonly readable: boolean } | undefined> {
  if (named === undefined) return { id: project.id, readable: true }
  const found = await findByRef(db, named)
  const target = found && (await findProjectAs(db, found.id, actor.id))
  if (target === undefined || !canSee(actor, target.visibility, target.role, ROLES.guest)) return undefined
  return {
    id: target.id,
    readable: target.repository_access_level === 'enabled' || target.role >= ROLES.reporter,
  }
}
