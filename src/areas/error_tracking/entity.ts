import { Type as t, type Static } from 'typebox'
import type { ErrorTrackingClientKey, ErrorTrackingSetting } from '../../db/schema/errors.ts'
import { nullable } from '../../http/params/schema.ts'
import type { Instance } from '../../instance.ts'

/** `sentry_external_url` is the published name of `tracker_external_url`: existing clients read it. */
export const ErrorTrackingSettings = t.Object({
  active: t.Boolean(),
  project_name: nullable(t.String()),
  tracker_external_url: nullable(t.String()),
  sentry_external_url: nullable(t.String()),
  api_url: nullable(t.String()),
  integrated: t.Boolean(),
})

/** The project's name and the addresses belong to an outside tracker, which no operation configures. */
export const presentSettings = (
  { active, integrated }: ErrorTrackingSetting,
  { settings }: Pick<Instance, 'settings'>,
): Static<typeof ErrorTrackingSettings> => ({
  active,
  project_name: null,
  tracker_external_url: null,
  sentry_external_url: null,
  api_url: null,
  integrated: integrated && settings.enabled('integrated_error_tracking'),
})

export const ErrorTrackingClientKeySchema = t.Object({
  id: t.Integer(),
  active: t.Boolean(),
  public_key: t.String(),
  sentry_dsn: t.String({ description: 'What an SDK is configured with' }),
})

/** The address of the collector with the key as its user, as SDKs expect it. */
function dsnOf(base: string, key: string, projectId: number): string {
  const url = new URL(`${base}/api/v4/error_tracking/collector/${projectId}`)
  url.username = key
  return url.href
}

export function presentKey(
  { id, active, project_id, sealed }: ErrorTrackingClientKey,
  { config, vault }: Pick<Instance, 'config' | 'vault'>,
): Static<typeof ErrorTrackingClientKeySchema> {
  const key = vault.open(sealed)
  return { id, active, public_key: key, sentry_dsn: dsnOf(config.url, key, project_id) }
}
