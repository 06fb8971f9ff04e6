import { Type as t, type TSchema } from 'typebox'
import { isLonger, tooLong } from '../../core/values/lengths.ts'
import type { COMMAND_LINE_SETTINGS, SettingName } from '../../core/settings/settings.ts'
import { VISIBILITIES } from '../../core/values/visibilities.ts'
import { keysOf, oneOf } from '../../http/params/schema.ts'

const visibility = (): TSchema => oneOf(VISIBILITIES)
const positive = (): TSchema => t.Integer({ minimum: 1, maximum: 999_999_999 })

/** Scripts set these on a new instance; users are made by administrators here, and sign in with tokens. */
const NO_EFFECT = 'Kept and shown; nothing here depends on it'

/** Options of every setting. */
export const SETTINGS: Readonly<
  Record<Exclude<SettingName, (typeof COMMAND_LINE_SETTINGS)[number]>, TSchema>
> = {
  allow_local_requests_from_web_hooks_and_services: t.Boolean(),
  analytics_api_base_url: t.String({ maxLength: 512 }),
  analytics_api_key: t.String({ maxLength: 512 }),
  can_create_group: t.Boolean(),
  default_branch_protection: t.Integer({ minimum: 0, maximum: 4 }),
  default_group_visibility: visibility(),
  default_project_visibility: visibility(),
  default_projects_limit: t.Integer({ minimum: 0, maximum: 2_147_483_647 }),
  email_confirmation_setting: oneOf(['off', 'soft']),
  enable_member_promotion_management: t.Boolean(),
  home_page_url: t.String({ maxLength: 512, description: NO_EFFECT }),
  error_tracking_events_per_minute: positive(),
  error_tracking_retention_days: t.Integer({ minimum: 1, maximum: 3_650 }),
  impersonation_enabled: t.Boolean(),
  max_attachment_size: t.Integer({ minimum: 0, maximum: 999_999_999, description: NO_EFFECT }),
  password_authentication_enabled_for_git: t.Boolean({ description: NO_EFFECT }),
  password_authentication_enabled_for_web: t.Boolean({ description: 'Whether passwords open the console' }),
  personal_access_token_prefix: t.String(),
  require_admin_approval_after_user_signup: t.Boolean({ description: NO_EFFECT }),
  send_user_confirmation_email: t.Boolean({ description: NO_EFFECT }),
  signup_enabled: t.Boolean({ description: NO_EFFECT }),
  throttle_authenticated_api_enabled: t.Boolean(),
  throttle_authenticated_api_period_in_seconds: positive(),
  throttle_authenticated_api_requests_per_period: positive(),
  throttle_unauthenticated_api_enabled: t.Boolean(),
  throttle_unauthenticated_api_period_in_seconds: positive(),
  throttle_unauthenticated_api_requests_per_period: positive(),
}
export const NAMES = keysOf(SETTINGS)

type Values = Partial<Record<SettingName, string | number | boolean>>

/** By which other names clients know a setting. */
const ALIASES: Readonly<Record<string, SettingName>> = {
  cube_api_base_url: 'analytics_api_base_url',
  cube_api_key: 'analytics_api_key',
}

/** The given settings, each under its current name. */
export const canonical = (sent: Readonly<Record<string, string | number | boolean | undefined>>): Values =>
  Object.fromEntries(
    Object.entries(sent).flatMap(([name, value]) =>
      value === undefined ? [] : [[ALIASES[name] ?? name, value]],
    ),
  )

/** Faults of the texts, in the published words. */
export function faultsOf(values: Values): Record<string, string[]> {
  const url = values.analytics_api_base_url
  const prefix = values.personal_access_token_prefix
  const web = url === undefined || url === '' || /^https?:\/\/[^\s/]/.test(String(url))
  const faults = {
    ...(!(web && (url === undefined || url === '' || URL.canParse(String(url)))) && {
      analytics_api_base_url: ['is blocked: Only allowed schemes are http, https'],
    }),
    ...(typeof prefix === 'string' && prefixFault(prefix)),
  }
  return faults
}

const LONGEST_PREFIX = 20
function prefixFault(prefix: string): Record<string, string[]> {
  if (isLonger(prefix, LONGEST_PREFIX)) return { personal_access_token_prefix: [tooLong(LONGEST_PREFIX)] }
  if (!/^[A-Za-z0-9+/=_@:.-]*$/.test(prefix))
    return {
      personal_access_token_prefix: [
        "can contain only letters of the Base64 alphabet (RFC4648) with the addition of '@', ':' and '.'",
      ],
    }
  return {}
}
