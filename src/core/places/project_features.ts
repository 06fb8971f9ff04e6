import { REPOSITORY_FEATURES, levelOf, type Feature } from '../sight/project_settings.ts'
import type { Project } from './projects.ts'
import { ROLES } from '../sight/roles.ts'

export type ProjectFeature = 'issues' | 'merge_requests' | 'snippets' | 'builds'

/** Whether the feature is switched on for the caller, who sees the project. */
export function hasFeature(
  actor: { readonly admin: boolean } | null,
  project: Pick<Project, 'settings' | 'repository_access_level' | 'role'>,
  feature: ProjectFeature,
): boolean {
  const belongs = actor?.admin === true || project.role >= ROLES.guest
  const isOpen = (one: Feature): boolean => {
    const level = levelOf(project, one)
    return level === 'enabled' || (level === 'private' && belongs)
  }
  return isOpen(feature) && (!REPOSITORY_FEATURES.includes(feature) || isOpen('repository'))
}

/** Whether the caller, who reads the project's code, sees what ran on it too: unless its jobs are for its team alone. */
export const seesPipelines = (
  actor: { readonly admin: boolean } | null,
  project: Pick<Project, 'settings' | 'repository_access_level' | 'role'>,
): boolean =>
  hasFeature(actor, project, 'builds') &&
  (project.settings['public_jobs'] !== false || actor?.admin === true || project.role >= ROLES.reporter)
