import { levelOf } from '../../core/sight/project_settings.ts'
import type { Project } from '../../core/places/projects.ts'
import { mayMerge, mayPush, pushRules } from '../../core/repositories/protected_branches.ts'
import { ROLES } from '../../core/sight/roles.ts'
import type { Db } from '../../db/db.ts'
import { allows, type Actor, type Gate, type Has } from '../../http/gate.ts'
import { forbidden, notFound } from '../../http/problems.ts'

/** Whether the caller reads the pipelines and jobs of a project that the caller sees. */
export function mayReadPipelines(actor: Actor | null, project: Project): boolean {
  const level = levelOf(project, 'builds')
  if (actor?.admin === true) return true
  if (level === 'disabled' || (level === 'private' && project.role < ROLES.guest)) return false
  return (
    project.role >= ROLES.reporter ||
    (project.visibility !== 'private' && project.settings['public_jobs'] !== false)
  )
}

/** Reporters read pipelines; others do where the project is open and shows its jobs. */
export const readsPipelines = allows({
  says: 'the right to read pipelines: at least Reporter where the project is private or hides its jobs',
  refuses: forbidden,
  holds: ({ actor, project }: Has<{ project: Project }>) => mayReadPipelines(actor, project),
})

/** To callers who may not read pipelines a schedule does not exist. */
export const seesSchedules = allows({
  says: 'the right to read pipelines; otherwise the schedule is hidden',
  refuses: () => notFound('Pipeline Schedule'),
  holds: ({ actor, project }: Has<{ project: Project }>) => mayReadPipelines(actor, project),
})

/** Whether the caller, a Developer, may run something on the ref: on a protected branch by the right to push or merge. */
export async function mayWriteRef(
  db: Db,
  { actor, project }: { readonly actor: Actor; readonly project: Project },
  { ref, tag }: { readonly ref: string; readonly tag: boolean },
): Promise<boolean> {
  if (tag || ref.startsWith('refs/merge-requests/')) return true
  const rule = (await pushRules(db, project))(ref)
  const holder = { id: actor.id, role: project.role, admin: actor.admin }
  return mayPush(rule, holder) || mayMerge(rule, holder)
}

/** For what starts the jobs of a pipeline anew, or stops them. */
export const writesPipeline: Gate<
  'allows',
  never,
  { project: Project; actor: Actor; pipeline: { readonly ref: string; readonly tag: boolean } },
  object
> = {
  kind: 'allows',
  says: 'the right to push or merge into the branch of the pipeline',
  refuses: forbidden,
  pass: async ({ db, project, actor, pipeline }) =>
    (await mayWriteRef(db, { project, actor }, pipeline)) ? {} : undefined,
}

/** Environments and deployments are read by readers of pipelines, where the project has environments. */
export const readsEnvironments = allows({
  says: 'the right to read pipelines; environments are enabled',
  refuses: forbidden,
  holds: ({ actor, project }: Has<{ project: Project }>) => {
    const level = levelOf(project, 'environments')
    if (!mayReadPipelines(actor, project)) return false
    if (actor?.admin === true) return true
    return level === 'enabled' || (level === 'private' && project.role >= ROLES.guest)
  },
})
