import { Type as t, type Static } from 'typebox'
import type { Group as GroupRow } from '../../core/places/groups.ts'
import { settingsOf } from '../../core/places/group_settings.ts'
import { ROLES } from '../../core/sight/roles.ts'
import type { Namespace } from '../../db/schema/tables.ts'
import type { Actor } from '../../http/gate.ts'
import { date, nullable, oneOf, moment } from '../../http/params/schema.ts'
import type { Instance } from '../../instance.ts'
import { includes } from '../../core/settings/plans.ts'
import { VISIBILITIES } from '../../core/values/visibilities.ts'
import { GroupProject } from '../../records/places/project.ts'
import { RootStatistics, Statistics, rootStatistics, statistics } from './statistics.ts'

const Share = t.Object({
  group_id: t.Integer(),
  group_name: t.String(),
  group_full_path: t.String(),
  group_access_level: t.Integer(),
  expires_at: nullable(date()),
})
export const CustomAttribute = t.Object({ key: t.String(), value: t.String() })

const common = {
  id: t.Integer(),
  web_url: t.String(),
  name: t.String(),
  path: t.String(),
  description: t.String(),
  visibility: oneOf(VISIBILITIES),
  share_with_group_lock: t.Boolean(),
  require_two_factor_authentication: t.Boolean(),
  two_factor_grace_period: t.Integer(),
  project_creation_level: t.String(),
  subgroup_creation_level: t.String(),
  auto_devops_enabled: nullable(t.Boolean()),
  emails_disabled: nullable(t.Boolean()),
  emails_enabled: nullable(t.Boolean()),
  mentions_disabled: nullable(t.Boolean()),
  lfs_enabled: t.Boolean(),
  default_branch: nullable(t.String()),
  default_branch_protection: t.Integer(),
  default_branch_protection_defaults: t.Object({
    allowed_to_push: t.Array(t.Object({ access_level: t.Integer() })),
    allowed_to_merge: t.Array(t.Object({ access_level: t.Integer() })),
    allow_force_push: t.Boolean(),
  }),
  avatar_url: nullable(t.String()),
  request_access_enabled: t.Boolean(),
  full_name: t.String(),
  full_path: t.String(),
  created_at: moment(),
  parent_id: nullable(t.Integer()),
  organization_id: t.Integer(),
  shared_runners_setting: t.String(),
  repository_storage: t.Optional(t.String()),
  file_template_project_id: nullable(t.Integer()),
  custom_attributes: t.Optional(t.Array(CustomAttribute)),
  // Premium and Ultimate.
  marked_for_deletion_on: t.Optional(nullable(date())),
  wiki_access_level: t.Optional(t.String()),
}

/** An item of a list of groups. */
export const GroupItem = t.Object({
  ...common,
  statistics: t.Optional(Statistics),
  root_storage_statistics: t.Optional(RootStatistics),
})

/** A group by itself. */
export const Group = t.Object({
  ...common,
  shared_with_groups: t.Array(Share),
  runners_token: t.Optional(t.String()),
  enabled_git_access_protocol: t.Optional(t.String()),
  prevent_sharing_groups_outside_hierarchy: t.Optional(t.Boolean()),
  projects: t.Optional(t.Array(GroupProject, { deprecated: true })),
  shared_projects: t.Optional(t.Array(GroupProject, { deprecated: true })),
  ip_restriction_ranges: nullable(t.String()),
  math_rendering_limits_enabled: t.Boolean(),
  lock_math_rendering_limits_enabled: t.Boolean(),
  archived: t.Boolean(),
  // Premium and Ultimate.
  shared_runners_minutes_limit: t.Optional(nullable(t.Integer())),
  extra_shared_runners_minutes_limit: t.Optional(nullable(t.Integer())),
  membership_lock: t.Optional(t.Boolean()),
  assistant_features_enabled: t.Optional(t.Boolean()),
  lock_assistant_features_enabled: t.Optional(t.Boolean()),
  assistant_availability: t.Optional(t.String()),
  duo_features_enabled: t.Optional(t.Boolean()),
  lock_duo_features_enabled: t.Optional(t.Boolean()),
  duo_availability: t.Optional(t.String()),
  experiment_features_enabled: t.Optional(t.Boolean()),
})

type Site = Pick<Instance, 'config' | 'settings' | 'vault'>

const paid = ({ settings }: Pick<Instance, 'settings'>): boolean => includes(settings.get('tier'), 'premium')

function shared(row: Namespace, site: Site, shows: Shows): Static<typeof GroupItem> {
  const settings = settingsOf(row)
  return {
    id: row.id,
    web_url: `${site.config.url}/groups/${row.full_path}`,
    name: row.name,
    path: row.path,
    description: row.description,
    visibility: row.visibility,
    share_with_group_lock: settings.share_with_group_lock,
    require_two_factor_authentication: settings.require_two_factor_authentication,
    two_factor_grace_period: settings.two_factor_grace_period,
    project_creation_level: settings.project_creation_level,
    subgroup_creation_level: settings.subgroup_creation_level,
    auto_devops_enabled: settings.auto_devops_enabled,
    emails_disabled: !settings.emails_enabled,
    emails_enabled: settings.emails_enabled,
    mentions_disabled: settings.mentions_disabled,
    lfs_enabled: settings.lfs_enabled,
    default_branch: settings.default_branch,
    default_branch_protection: settings.default_branch_protection,
    default_branch_protection_defaults: settings.default_branch_protection_defaults,
    avatar_url: row.avatar_url,
    request_access_enabled: settings.request_access_enabled,
    full_name: row.full_name,
    full_path: row.full_path,
    created_at: row.created_at,
    parent_id: row.parent_id,
    organization_id: 1,
    shared_runners_setting: settings.shared_runners_setting,
    repository_storage: row.repository_storage,
    file_template_project_id: settings.file_template_project_id,
    ...(shows.customAttributes && {
      custom_attributes: Object.entries(row.custom_attributes).map(([key, value]) => ({ key, value })),
    }),
    ...(paid(site) && {
      marked_for_deletion_on: row.marked_for_deletion_on,
      wiki_access_level: settings.wiki_access_level,
    }),
  }
}

interface Shows {
  readonly customAttributes: boolean
}

export type GroupWithSizes = Namespace & {
  readonly repository_size: number | null
  readonly root_repository_size: number | null
}

/** One line of a list. Sizes are there when they were asked for by somebody who may. */
export function presentItem(row: GroupWithSizes, site: Site, shows: Shows): Static<typeof GroupItem> {
  const { repository_size: own, root_repository_size: root, parent_id } = row
  return Object.assign(shared(row, site, shows), {
    ...(own !== null && { statistics: statistics(own) }),
    ...(root !== null && parent_id === null && { root_storage_statistics: rootStatistics(root) }),
  })
}

export interface Around {
  readonly shared_with_groups: Static<typeof Share>[]
  readonly projects: Static<typeof GroupProject>[] | undefined
  readonly shared_projects: Static<typeof GroupProject>[] | undefined
}

/** A group with what hangs on it; its secrets are for its owners and for administrators. */
export function present(
  row: GroupRow,
  around: Around,
  { site, actor, shows }: { site: Site; actor: Actor | null; shows: Shows },
): Static<typeof Group> {
  const settings = settingsOf(row)
  const administers = actor?.admin === true || row.role >= ROLES.owner
  const root = row.parent_id === null
  return Object.assign(shared(row, site, shows), {
    shared_with_groups: around.shared_with_groups,
    ...(administers && row.runners_token && { runners_token: site.vault.open(row.runners_token) }),
    ...(administers && root && { enabled_git_access_protocol: settings.enabled_git_access_protocol }),
    ...(root && {
      prevent_sharing_groups_outside_hierarchy: settings.prevent_sharing_groups_outside_hierarchy,
    }),
    ...(around.projects && { projects: around.projects }),
    ...(around.shared_projects && { shared_projects: around.shared_projects }),
    ip_restriction_ranges: settings.ip_restriction_ranges,
    math_rendering_limits_enabled: settings.math_rendering_limits_enabled,
    lock_math_rendering_limits_enabled: settings.lock_math_rendering_limits_enabled,
    archived: settings.archived,
    ...(paid(site) && {
      shared_runners_minutes_limit: settings.shared_runners_minutes_limit,
      extra_shared_runners_minutes_limit: settings.extra_shared_runners_minutes_limit,
      membership_lock: settings.membership_lock,
      assistant_features_enabled: settings.assistant_features_enabled,
      lock_assistant_features_enabled: settings.lock_assistant_features_enabled,
      assistant_availability: settings.assistant_availability,
      duo_features_enabled: settings.assistant_features_enabled,
      lock_duo_features_enabled: settings.lock_assistant_features_enabled,
      duo_availability: settings.assistant_availability,
      experiment_features_enabled: settings.experiment_features_enabled,
    }),
  })
}
