import type { Project } from './projects.ts'
import { ROLES } from './roles.ts'

/** What a project can have switched off, or open to its members alone. */
export type ProjectFeature = 'issues' | 'merge_requests' | 'snippets'
export type FeatureLevel = 'disabled' | 'private' | 'enabled'

/** As set by `issues_access_level` and the like, or by the older `issues_enabled`. */
export function featureLevel({ settings }: Pick<Project, 'settings'>, feature: ProjectFeature): FeatureLevel {
  const level = settings[`${feature}_access_level`]
  if (level === 'disabled' || level === 'private' || level === 'enabled') return level
  return settings[`${feature}_enabled`] === false ? 'disabled' : 'enabled'
}

/** Whether the feature is switched on for the caller, who sees the project. */
export function hasFeature(
  actor: { readonly admin: boolean } | null,
  project: Pick<Project, 'settings' | 'role'>,
  feature: ProjectFeature,
): boolean {
  const level = featureLevel(project, feature)
  const belongs = actor?.admin === true || project.role >= ROLES.guest
  return level === 'enabled' || (level === 'private' && belongs)
}
