import { sql } from 'kysely'
import type { Client } from '../../db/client.ts'
import type { Db } from '../../db/db.ts'
import type { Visibility } from '../../db/schema/columns.ts'
import { q, statement, type Slots } from '../../db/statement.ts'
import type { Config } from '../../config.ts'

/** The licence of the instance. */
type Licence = Pick<Config, 'tier' | 'offering'>

/** Every instance setting there is, by its published name where one is published, with what holds until it is set. */
export const DEFAULT_SETTINGS = {
  allow_local_requests_from_web_hooks_and_services: false,
  analytics_api_base_url: '',
  /** Sealed by the vault: see `access/secret_settings.ts`. */
  analytics_api_key: '',
  /** The cubes of the analytics engine that projects may query, with commas. */
  analytics_cubes: 'TrackedEvents,Sessions,ReturningUsers',
  can_create_group: true,
  default_project_visibility: 'private' as Visibility,
  default_group_visibility: 'private' as Visibility,
  default_branch_protection: 2,
  default_projects_limit: 100_000,
  email_confirmation_setting: 'off',
  error_tracking_events_per_minute: 6_000,
  error_tracking_retention_days: 30,
  enable_member_promotion_management: false,
  home_page_url: '',
  impersonation_enabled: true,
  max_attachment_size: 100,
  /** Decides with `tier` which operations are open; the configuration's holds until this is set. */
  offering: 'self-managed' as Licence['offering'],
  password_authentication_enabled_for_git: false,
  password_authentication_enabled_for_web: true,
  personal_access_token_prefix: 'glpat-',
  require_admin_approval_after_user_signup: true,
  send_user_confirmation_email: false,
  signup_enabled: false,
  tier: 'ultimate' as Licence['tier'],
  throttle_authenticated_api_enabled: false,
  throttle_authenticated_api_requests_per_period: 7200,
  throttle_authenticated_api_period_in_seconds: 3600,
  throttle_unauthenticated_api_enabled: false,
  throttle_unauthenticated_api_requests_per_period: 3600,
  throttle_unauthenticated_api_period_in_seconds: 3600,
} as const satisfies Record<string, string | number | boolean>

type Widen<T> = T extends boolean
  ? boolean
  : T extends number
    ? number
    : T extends Visibility | Licence[keyof Licence]
      ? T
      : string
export type SettingName = keyof typeof DEFAULT_SETTINGS
/** Settings of the command line alone: the interface neither shows nor changes them. */
export const COMMAND_LINE_SETTINGS = ['analytics_cubes', 'offering', 'tier'] as const satisfies SettingName[]
/** Settings that nobody is shown, not even in the database. */
export const SECRET_SETTINGS: ReadonlySet<SettingName> = new Set(['analytics_api_key'])
export type SettingValues = { -readonly [Name in SettingName]: Widen<(typeof DEFAULT_SETTINGS)[Name]> }

/** Every feature flag and whether it is on until somebody switches it. */
export const DEFAULT_FEATURES = {
  admin_token_revoke: true,
  product_analytics_features: true,
  generic_alert_fingerprinting: true,
  integrated_error_tracking: true,
} as const satisfies Record<string, boolean>
export type FeatureName = keyof typeof DEFAULT_FEATURES

/** The instance's settings and flags as they stand; kept true by the database telling of each change. */
export interface Settings {
  readonly get: <Name extends SettingName>(name: Name) => SettingValues[Name]
  readonly enabled: (feature: FeatureName) => boolean
  /** Reads everything again: before this resolves, what this process wrote is in force here. */
  readonly reload: () => Promise<void>
  /** Makes sure that what is in force here is no older than `version`, which stands in the database. */
  readonly catchUp: (version: number) => Promise<void> | undefined
}

const allSettings = statement(() => q.selectFrom('settings').select(['name', 'value']))
const clock = statement(() => sql<{ version: number }>`select version from settings_clock`)
const allFeatures = statement(() => q.selectFrom('features').select(['name', 'enabled']))

/** Reads the settings and keeps them current; `licence` holds until it is set. */
export async function openSettings(db: Client, { tier, offering }: Licence): Promise<Settings> {
  const defaults = { ...DEFAULT_SETTINGS, tier, offering }
  let values: Readonly<Record<string, unknown>> = {}
  let features: Readonly<Record<string, boolean>> = {}
  let [begun, shown, version] = [0, 0, -1]
  const reload = async (): Promise<void> => {
    const mine = ++begun
    // The clock first: what changes while the rest is read is read again by whoever sees the clock next.
    const at = await db.one(clock, {})
    const [settingRows, featureRows] = await Promise.all([db.rows(allSettings, {}), db.rows(allFeatures, {})])
    // Of two at once the one that began first may end last, and knows less.
    if (mine < shown) return
    shown = mine
    version = at?.version ?? version
    values = Object.fromEntries(settingRows.map((row) => [row.name, row.value]))
    features = Object.fromEntries(featureRows.map((row) => [row.name, row.enabled]))
  }
  await reload()
  // A failed reload keeps what was known; the next notice or reconnect tries again.
  db.listen('settings', () => void reload().catch(() => {}))
  return {
    get: <Name extends SettingName>(name: Name) => (values[name] ?? defaults[name]) as SettingValues[Name],
    enabled: (feature) => features[feature] ?? DEFAULT_FEATURES[feature],
    reload,
    catchUp: (asked) => (asked > version ? reload() : undefined),
  }
}

const upsertSetting = statement(
  (p: Slots<{ name: string; value: string }>) => sql`
    insert into settings (name, value) values (${p.name}, ${p.value}::jsonb)
    on conflict (name) do update set value = excluded.value, updated_at = now()`,
)
const upsertFeature = statement(
  (p: Slots<{ name: string; enabled: boolean }>) => sql`
    insert into features (name, enabled) values (${p.name}, ${p.enabled})
    on conflict (name) do update set enabled = excluded.enabled, updated_at = now()`,
)

export async function setSetting(db: Db, name: SettingName, value: string | number | boolean): Promise<void> {
  await db.run(upsertSetting, { name, value: JSON.stringify(value) })
}

export async function setFeature(db: Db, name: FeatureName, enabled: boolean): Promise<void> {
  await db.run(upsertFeature, { name, enabled })
}
