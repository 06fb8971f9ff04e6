import { rowOf } from '../support/rows.ts'
import type { Calls } from './calls.ts'
import type { Scene } from './scene.ts'

/** A token that an administrator looks up. */
const tokenOf = ({ project }: Scene): string => `glpat-scene-${project.id}`

const clientKey = ({ project }: Scene): string => `glet_${project.id}`
const KEY = { authorization: 'Bearer 0123456789abcdef' }

/** Error tracking, and tokens as administrators look them up. */
export const machines: Calls = {
  inPrivate: `
                               none   0   5  10  15  20  30  40  50 adm nobody
  getErrorTrackingSettings      404 404 404 403 403 403 403 200 200 200 401
  createErrorTrackingSettings   404 404 404 403 403 403 403 200 200 200 401
  updateErrorTrackingSettings   404 404 404 403 403 403 403 200 200 200 401
  listErrorTrackingClientKeys   404 404 404 403 403 403 403 200 200 200 401
  createErrorTrackingClientKey  404 404 404 403 403 403 403 201 201 201 401
  deleteErrorTrackingClientKey  404 404 404 403 403 403 403 200 200 200 401
  introspectToken               403 403 403 403 403 403 403 403 403 200 401
  revokeToken                   403 403 403 403 403 403 403 403 403 204 401
  createAlert                   200 200 200 200 200 200 200 200 200 200 200
  createAlertAtEndpoint         200 200 200 200 200 200 200 200 200 200 200
  createPrometheusAlerts        200 200 200 200 200 200 200 200 200 200 200
  createErrorEvent              200 200 200 200 200 200 200 200 200 200 200
  createErrorEnvelope           200 200 200 200 200 200 200 200 200 200 200
`,
  inPublic: `
                               none   0   5  10  15  20  30  40  50 adm nobody
  getErrorTrackingSettings      403 403 403 403 403 403 403 200 200 200 401
  createErrorTrackingSettings   403 403 403 403 403 403 403 200 200 200 401
  updateErrorTrackingSettings   403 403 403 403 403 403 403 200 200 200 401
  listErrorTrackingClientKeys   403 403 403 403 403 403 403 200 200 200 401
  createErrorTrackingClientKey  403 403 403 403 403 403 403 201 201 201 401
  deleteErrorTrackingClientKey  403 403 403 403 403 403 403 200 200 200 401
`,
  queries: {
    createErrorEvent: (scene) => ({ sentry_key: clientKey(scene) }),
    createErrorEnvelope: (scene) => ({ sentry_key: clientKey(scene) }),
  },
  headers: { createAlert: KEY, createAlertAtEndpoint: KEY, createPrometheusAlerts: KEY },
  bodies: {
    createErrorEvent: { message: 'Boom' },
    createErrorEnvelope: '{}\n{"type":"event"}\n{"message":"Boom"}',
    createAlert: { title: 'Disk full' },
    createAlertAtEndpoint: { title: 'Disk full' },
    createPrometheusAlerts: {
      receiver: 'r',
      status: 'firing',
      groupLabels: {},
      commonLabels: {},
      commonAnnotations: {},
      externalURL: 'http://am',
      version: '4',
      groupKey: '{}',
      alerts: [{ status: 'firing', labels: { alertname: 'X' }, startsAt: '2026-01-01T00:00:00Z' }],
    },
    createErrorTrackingSettings: { active: true, integrated: true },
    updateErrorTrackingSettings: { active: false },
    introspectToken: (scene) => ({ token: tokenOf(scene) }),
    revokeToken: (scene) => ({ token: tokenOf(scene) }),
  },
  set: async (world, scene) => {
    const { project } = scene
    const { vault } = world.opened.instance
    const sealed = vault.seal('glet_0123456789abcdef0123456789abcdef').toString('hex')
    await world.make.sql(`
      delete from error_tracking_client_keys where project_id = ${project.id};
      insert into error_tracking_client_keys (project_id, digest, sealed)
      values (${project.id}, sha256('${clientKey(scene)}'), '\\x${sealed}');
      delete from error_tracking_settings where project_id = ${project.id};
      insert into error_tracking_settings (project_id, active, integrated) values (${project.id}, true, true);
      delete from alerts where project_id = ${project.id};
      delete from alert_integrations where project_id = ${project.id};
      insert into alert_integrations (project_id, name, type, endpoint_identifier, key_digest)
      select ${project.id}, identifier, 'http', identifier, sha256('0123456789abcdef')
        from unnest('{legacy,legacy-prometheus,c0ffee}'::text[]) identifier;
      delete from personal_access_tokens where digest = sha256('${tokenOf(scene)}');
      insert into personal_access_tokens (user_id, name, digest, scopes)
      values (${scene.callers.get('owner')?.id}, 'looked up', sha256('${tokenOf(scene)}'), '{api}')`)
    const key = await rowOf<{ id: number }>(
      world,
      'select id from error_tracking_client_keys where project_id = $1',
      [project.id],
    )
    return {
      // The collector's path names the project and nothing before it.
      id: String(project.id),
      key_id: String(key.id),
      project_full_path: project.full_path,
      name: 'any-name',
      endpoint: 'c0ffee',
    }
  },
}
