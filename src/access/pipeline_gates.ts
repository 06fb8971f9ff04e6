import { levelOf } from '../core/project_settings.ts'
import type { Project } from '../core/projects.ts'
import { ROLES } from '../core/roles.ts'
import { allows, type Actor, type Has } from '../http/gate.ts'
import { forbidden } from '../http/problems.ts'

/** Whether the caller reads the pipelines and jobs of a project that the caller sees. */
function mayReadPipelines(actor: Actor | null, project: Project): boolean {
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
  says: 'whoever may read pipelines: at least Reporter where the project is private or hides its jobs',
  refuses: forbidden,
  holds: ({ actor, project }: Has<{ project: Project }>) => mayReadPipelines(actor, project),
})
