import type { Namespace } from '../../db/schema/tables.ts'

/** Defaults of group settings. */
const GROUP_SETTINGS = {
  share_with_group_lock: false,
  require_two_factor_authentication: false,
  two_factor_grace_period: 48,
  project_creation_level: 'developer',
  subgroup_creation_level: 'maintainer',
  auto_devops_enabled: null as boolean | null,
  emails_enabled: true,
  mentions_disabled: null as boolean | null,
  lfs_enabled: true,
  default_branch: null as string | null,
  default_branch_protection: 2,
  default_branch_protection_defaults: {
    allowed_to_push: [{ access_level: 40 }],
    allowed_to_merge: [{ access_level: 40 }],
    allow_force_push: false,
  },
  request_access_enabled: true,
  shared_runners_setting: 'enabled',
  file_template_project_id: null as number | null,
  wiki_access_level: 'enabled',
  enabled_git_access_protocol: 'all',
  prevent_sharing_groups_outside_hierarchy: false,
  ip_restriction_ranges: null as string | null,
  math_rendering_limits_enabled: true,
  lock_math_rendering_limits_enabled: false,
  archived: false,
  shared_runners_minutes_limit: null as number | null,
  extra_shared_runners_minutes_limit: null as number | null,
  membership_lock: false,
  assistant_features_enabled: true,
  lock_assistant_features_enabled: false,
  assistant_availability: 'default_on',
  experiment_features_enabled: false,
}

/** Published features of groups that no operation serves yet; the area that serves one removes its line. */
const UNSERVED_GROUP_SETTINGS = { lfs_enabled: false, wiki_access_level: 'disabled' }

export type GroupSettings = typeof GROUP_SETTINGS

/** A group's settings as they stand. */
export const settingsOf = ({ settings }: Pick<Namespace, 'settings'>): GroupSettings => ({
  ...GROUP_SETTINGS,
  ...settings,
  ...UNSERVED_GROUP_SETTINGS,
})
