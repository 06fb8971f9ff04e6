/** What holds for a group until somebody sets it. */
export const GROUP_SETTINGS = {
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

/** What follows the last group of a page in the order of names, as text a caller hands back. */
export const writeCursor = ({ name, id }: { name: string; id: number }): string =>
  Buffer.from(JSON.stringify({ name, id: String(id), _kd: 'n' })).toString('base64url')

/** Reads a cursor; undefined when it is none of ours. */
export function readCursor(text: string): { name: string; id: number } | undefined {
  try {
    const { name, id } = JSON.parse(Buffer.from(text, 'base64url').toString()) as Record<string, unknown>
    const sound =
      typeof name === 'string' && !name.includes('\0') && typeof id === 'string' && /^\d{1,15}$/.test(id)
    return sound ? { name, id: Number(id) } : undefined
  } catch {
    return undefined
  }
}
