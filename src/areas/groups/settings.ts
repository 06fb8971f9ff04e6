import { Type as t, type Static, type TObject } from 'typebox'
import type { GroupSettings } from '../../core/places/group_settings.ts'
import { VISIBILITIES } from '../../core/values/visibilities.ts'
import { noAvatar, nullable, oneOf } from '../../http/params/schema.ts'

const flag = t.Optional(t.Boolean())
const level = t.Array(t.Object({ access_level: t.Integer({ enum: [0, 30, 40] }) }))

/** Settings of a group at creation and later. */
export const settingParams = {
  description: t.Optional(nullable(t.String())),
  visibility: t.Optional(oneOf(VISIBILITIES)),
  avatar: noAvatar,
  share_with_group_lock: flag,
  require_two_factor_authentication: flag,
  two_factor_grace_period: t.Optional(t.Integer({ minimum: 0, maximum: 2_147_483_647 })),
  project_creation_level: t.Optional(oneOf(['noone', 'owner', 'maintainer', 'developer', 'administrator'])),
  subgroup_creation_level: t.Optional(oneOf(['owner', 'maintainer'])),
  auto_devops_enabled: t.Optional(nullable(t.Boolean())),
  emails_disabled: t.Optional(
    t.Boolean({ deprecated: true, description: 'Deprecated: the opposite of `emails_enabled`' }),
  ),
  emails_enabled: flag,
  mentions_disabled: t.Optional(nullable(t.Boolean())),
  lfs_enabled: flag,
  request_access_enabled: flag,
  default_branch: t.Optional(nullable(t.String({ maxLength: 255 }))),
  default_branch_protection: t.Optional(
    t.Integer({ enum: [0, 1, 2, 3, 4], deprecated: true, description: 'Deprecated' }),
  ),
  default_branch_protection_defaults: t.Optional(
    t.Object({
      allowed_to_push: t.Optional(level),
      allowed_to_merge: t.Optional(level),
      allow_force_push: flag,
    }),
  ),
  shared_runners_setting: t.Optional(
    oneOf(['enabled', 'disabled_and_overridable', 'disabled_with_override', 'disabled_and_unoverridable']),
  ),
  enabled_git_access_protocol: t.Optional(oneOf(['ssh', 'http', 'all'])),
  math_rendering_limits_enabled: flag,
  lock_math_rendering_limits_enabled: flag,
}
/** Settings that need Premium or Ultimate. */
export const paidParams = {
  membership_lock: flag,
  file_template_project_id: t.Optional(nullable(t.Integer())),
  wiki_access_level: t.Optional(oneOf(['disabled', 'private', 'enabled'])),
  shared_runners_minutes_limit: t.Optional(
    nullable(t.Integer({ minimum: 0, description: 'For administrators' })),
  ),
  extra_shared_runners_minutes_limit: t.Optional(
    nullable(t.Integer({ minimum: 0, description: 'For administrators' })),
  ),
  assistant_features_enabled: flag,
  lock_assistant_features_enabled: flag,
  assistant_availability: t.Optional(oneOf(['default_on', 'default_off', 'never_on'])),
  duo_features_enabled: flag,
  lock_duo_features_enabled: flag,
  duo_availability: t.Optional(oneOf(['default_on', 'default_off', 'never_on'])),
  experiment_features_enabled: flag,
  ip_restriction_ranges: t.Optional(nullable(t.String({ description: 'Cannot be set yet' }))),
}
export const together = { atMostOne: ['emails_disabled', 'emails_enabled'] }

const all = { ...settingParams, ...paidParams }
export type Given = Static<TObject<typeof all>>

const AS_GIVEN = [
  'share_with_group_lock',
  'require_two_factor_authentication',
  'two_factor_grace_period',
  'project_creation_level',
  'subgroup_creation_level',
  'auto_devops_enabled',
  'emails_enabled',
  'mentions_disabled',
  'lfs_enabled',
  'request_access_enabled',
  'default_branch',
  'default_branch_protection',
  'shared_runners_setting',
  'enabled_git_access_protocol',
  'math_rendering_limits_enabled',
  'lock_math_rendering_limits_enabled',
] as const satisfies readonly (keyof Given & keyof GroupSettings)[]
const PAID = [
  'membership_lock',
  'file_template_project_id',
  'wiki_access_level',
  'shared_runners_minutes_limit',
  'extra_shared_runners_minutes_limit',
  'assistant_features_enabled',
  'lock_assistant_features_enabled',
  'assistant_availability',
  'experiment_features_enabled',
] as const satisfies readonly (keyof Given & keyof GroupSettings)[]

/** The meaning of the five older levels: push, merge and force-push rights. */
const PROTECTIONS = [
  [30, 30, true],
  [30, 30, false],
  [40, 40, false],
  [40, 30, false],
  [40, 40, false],
] as const

function protectionOf(level: number): GroupSettings['default_branch_protection_defaults'] {
  const [push, merge, force] = PROTECTIONS[level] ?? PROTECTIONS[2]
  return {
    allowed_to_push: [{ access_level: push }],
    allowed_to_merge: [{ access_level: merge }],
    allow_force_push: force,
  }
}

type Patch = Partial<Record<keyof GroupSettings, unknown>>

function pick(given: Given, names: readonly (keyof Given & keyof GroupSettings)[]): Patch {
  return Object.fromEntries(names.flatMap((name) => (given[name] === undefined ? [] : [[name, given[name]]])))
}

/** Both names of these are published: the one that the record bears wins. */
const underNewerNames = (given: Given): Partial<Given> => ({
  ...(given.duo_features_enabled !== undefined && { assistant_features_enabled: given.duo_features_enabled }),
  ...(given.lock_duo_features_enabled !== undefined && {
    lock_assistant_features_enabled: given.lock_duo_features_enabled,
  }),
  ...(given.duo_availability !== undefined && { assistant_availability: given.duo_availability }),
})

/** The settings that a call changes, as they are kept; what the licence does not open is left as it was. */
export function settingsIn(given: Given, standing: GroupSettings, paid: boolean): Patch {
  const {
    emails_disabled,
    default_branch_protection: level,
    default_branch_protection_defaults: defaults,
  } = given
  const open = { ...underNewerNames(given), ...given }
  const protection = level === undefined ? standing.default_branch_protection_defaults : protectionOf(level)
  return {
    ...pick(open, AS_GIVEN),
    ...(paid && pick(open, PAID)),
    ...(emails_disabled !== undefined && { emails_enabled: !emails_disabled }),
    ...((level !== undefined || defaults !== undefined) && {
      default_branch_protection_defaults: { ...protection, ...defaults },
    }),
  }
}
