import { openReadyPlace } from '../support/program.ts'
import type { Target } from './programs.ts'

/** Runs `work` with a server of its own that takes alerts and errors. */
export async function withTarget(work: (target: Target) => Promise<void>): Promise<void> {
  const token = 'a-token-of-the-interop-run'
  const place = await openReadyPlace({ GUILDHALL_ROOT_TOKEN: token, LOG_LEVEL: 'warn' })
  try {
    const server = await place.serve()
    await place.json(['group', 'create', '--path', 'harbour'])
    const project = await place.json(['project', 'create', '--path', 'harbour/crane'])
    const at = ['--project', 'harbour/crane']
    const alerts = await place.json([
      'alert-integration',
      'create',
      ...at,
      '--type',
      'prometheus',
      '--name',
      'alerts',
    ])
    const call = async (method: string, path: string, body: object): Promise<Record<string, unknown>> => {
      const answer = await fetch(`${server.api}/projects/${String(project['id'])}/error_tracking/${path}`, {
        method,
        headers: { 'private-token': token, 'content-type': 'application/json' },
        body: JSON.stringify(body),
      })
      return (await answer.json()) as Record<string, unknown>
    }
    await call('PUT', 'settings', { active: true, integrated: true })
    const key = await call('POST', 'client_keys', {})
    const list = async <Row>(noun: string): Promise<Row[]> =>
      (await place.json([noun, 'list', ...at])) as unknown as Row[]
    await work({
      alerts: { url: String(alerts['url']), key: String(alerts['key']) },
      dsn: String(key['sentry_dsn']),
      listAlerts: () => list('alert'),
      listErrors: () => list('error'),
    })
    await server.stop()
  } finally {
    await place.clear()
  }
}
