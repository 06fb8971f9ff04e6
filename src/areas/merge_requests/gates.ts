import { mayReadCode } from '../../access/gates/gates.ts'
import { mayMerge, pushRules } from '../../core/repositories/protected_branches.ts'
import { hasFeature } from '../../core/places/project_features.ts'
import { repositoryPath, type Project } from '../../core/places/projects.ts'
import { ROLES } from '../../core/sight/roles.ts'
import type { MergeRequest } from '../../db/schema/planning.ts'
import type { Repository } from '../../git/repository.ts'
import { allows, type Actor, type Gate, type Has } from '../../http/gate.ts'
import { forbidden, unauthorized } from '../../http/problems.ts'

type InProject = Has<{ project: Project }>
type Here = Has<{ project: Project; mergeRequest: MergeRequest }>

/** The right to read code gives the right to see merge requests, where they are enabled. */
export const readsMergeRequests = allows({
  says: 'the right to read code; merge requests are enabled',
  refuses: forbidden,
  holds: ({ actor, project }: InProject) =>
    mayReadCode(actor, project) && hasFeature(actor, project, 'merge_requests'),
})

/** Whether the caller manages merge requests of the project, beyond writing their own. */
export const manages = (actor: Actor | null, project: Project): boolean =>
  actor?.admin === true || project.role >= ROLES.developer

/** The author, or at least Developer. */
export const changesIt: Gate<
  'allows',
  never,
  { project: Project; mergeRequest: MergeRequest },
  { actor: Actor }
> = {
  kind: 'allows',
  says: 'the author, or at least Developer in the project',
  refuses: forbidden,
  pass: ({ actor, project, mergeRequest }) =>
    actor !== null && (manages(actor, project) || mergeRequest.author_id === actor.id)
      ? { actor }
      : undefined,
}

/** Whether the caller may merge it: as its target branch is protected. */
export async function mayMergeIt({
  db,
  actor,
  project,
  mergeRequest,
}: Pick<Here, 'db' | 'project' | 'mergeRequest'> & {
  readonly actor: Pick<Actor, 'id' | 'admin'> | null
}): Promise<boolean> {
  if (actor === null || project.archived) return false
  const holder = { id: actor.id, role: project.role, admin: actor.admin }
  if (!mayMerge(undefined, holder)) return false
  return mayMerge((await pushRules(db, project))(mergeRequest.target_branch), holder)
}

export const merges: Gate<
  'allows',
  never,
  { project: Project; mergeRequest: MergeRequest },
  { actor: Actor }
> = {
  kind: 'allows',
  says: 'the right to merge into the target branch: at least Developer, or as its protection allows',
  refuses: unauthorized,
  pass: async (ctx) => (ctx.actor !== null && (await mayMergeIt(ctx)) ? { actor: ctx.actor } : undefined),
}

export const cancelsMerge: Gate<
  'allows',
  never,
  { project: Project; mergeRequest: MergeRequest },
  { actor: Actor }
> = {
  kind: 'allows',
  says: 'the right to merge into the target branch, or the author',
  refuses: unauthorized,
  pass: async (ctx) => {
    const { actor, mergeRequest } = ctx
    if (actor === null) return undefined
    return mergeRequest.author_id === actor.id || (await mayMergeIt(ctx)) ? { actor } : undefined
  },
}

/** The repository of its project, where it is compared. */
export const comparedIn: Gate<
  'checks',
  never,
  { project: Project; mergeRequest: MergeRequest },
  { repository: Repository }
> = {
  kind: 'checks',
  says: 'the repository of the comparison',
  refuses: forbidden,
  pass: ({ git, project }) => ({ repository: git.repository(repositoryPath(project.id)) }),
}
