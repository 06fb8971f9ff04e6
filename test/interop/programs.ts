/* Real programs that send to the service, as their users run them. */
import assert from 'node:assert/strict'
import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { freePort, until } from '../support/program.ts'

/** Where a program sends to, and how its deeds are seen. */
export interface Target {
  /** The URL of a Prometheus integration, with its key. */
  readonly alerts: { readonly url: string; readonly key: string }
  readonly dsn: string
  readonly listAlerts: () => Promise<readonly Seen[]>
  readonly listErrors: () => Promise<readonly { readonly name: string; readonly events: number }[]>
}
interface Seen {
  readonly title: string
  readonly status: string
  readonly events: number
}

export interface Program<Needs = Target> {
  readonly name: string
  /** Undefined where the program is not installed. */
  readonly version: () => string | undefined
  readonly tries: string
  /** Throws where the service does not do what the program needs. */
  readonly run: (target: Needs) => Promise<void>
}

const ALERTMANAGER = 'prometheus-alertmanager'

/** Prometheus Alertmanager as Debian packages it: fires, repeats after an interval, resolves. */
const alertmanager: Program = {
  name: 'Prometheus Alertmanager',
  version: () => {
    const { status, stdout, stderr } = spawnSync(ALERTMANAGER, ['--version'], { encoding: 'utf8' })
    return status === 0 ? /version (\S+)/.exec(stdout + stderr)?.[1]?.replace(',', '') : undefined
  },
  tries: 'fires, repeats, resolves',
  run: async ({ alerts, listAlerts }) => {
    const folder = mkdtempSync(join(tmpdir(), 'guildhall-alertmanager-'))
    const config = join(folder, 'config.yml')
    writeFileSync(
      config,
      `route: { receiver: svc, group_by: [alertname], group_wait: 100ms, group_interval: 500ms, repeat_interval: 1s }
receivers:
  - name: svc
    webhook_configs:
      - url: ${alerts.url}
        send_resolved: true
        http_config: { authorization: { type: Bearer, credentials: ${alerts.key} } }
`,
    )
    const port = await freePort()
    const child = spawn(
      ALERTMANAGER,
      [
        `--config.file=${config}`,
        `--storage.path=${folder}`,
        `--web.listen-address=127.0.0.1:${port}`,
        '--cluster.listen-address=',
        '--log.level=error',
      ],
      { stdio: ['ignore', 'ignore', 'inherit'] },
    )
    const ended = once(child, 'close')
    const post = async (alert: object): Promise<void> => {
      const answer = await fetch(`http://127.0.0.1:${port}/api/v2/alerts`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify([alert]),
      })
      assert.equal(answer.status, 200)
    }
    try {
      const listens = until('Alertmanager listens', () =>
        fetch(`http://127.0.0.1:${port}/-/ready`).then(
          ({ ok }) => ok,
          () => false,
        ),
      )
      const over = ended.then(([code]) => {
        throw new Error(`Alertmanager ended with ${String(code)}`)
      })
      await Promise.race([listens, over])
      const alert = {
        labels: { alertname: 'HighLatency', severity: 'page' },
        annotations: { summary: 'Latency above 1s' },
        startsAt: new Date().toISOString(),
        generatorURL: 'http://127.0.0.1:9090/graph?g0.expr=up+%3D%3D+0',
      }
      await post(alert)
      const sees = async (status: string, events: number): Promise<boolean> =>
        (await listAlerts()).some(
          (one) => one.title === 'Latency above 1s' && one.status === status && one.events >= events,
        )
      await until('the alert fires and repeats', () => sees('triggered', 2))
      await post({ ...alert, endsAt: new Date().toISOString() })
      await until('the alert is resolved', () => sees('resolved', 2))
      assert.equal((await listAlerts()).length, 1)
    } finally {
      child.kill('SIGKILL')
      await ended
      rmSync(folder, { recursive: true, force: true })
    }
  },
}

const SENTRY_APP = `
  import * as Sentry from '@sentry/node'
  Sentry.init({ dsn: process.env.DSN, release: 'app@1.2.3', environment: 'test' })
  Sentry.setUser({ id: '7' })
  for (const n of [1, 2, 3])
    try { JSON.parse('{' + n) } catch (error) {
      Sentry.captureException(error)
      Sentry.captureMessage('step ' + n)
    }
  process.exit((await Sentry.flush(10_000)) ? 0 : 1)`

/** The SDK of npm, unmodified, in a process of its own. */
const sentryNode: Program = {
  name: '@sentry/node',
  version: () => {
    const file = new URL('../../node_modules/@sentry/node/package.json', import.meta.url)
    return (JSON.parse(readFileSync(file, 'utf8')) as { version: string }).version
  },
  tries: 'sends exceptions and messages; equal ones are one error',
  run: async ({ dsn, listErrors }) => {
    const child = spawn(process.execPath, ['--input-type=module', '--eval', SENTRY_APP], {
      cwd: fileURLToPath(new URL('../..', import.meta.url)),
      env: { PATH: process.env['PATH'] ?? '', DSN: dsn },
      stdio: ['ignore', 'ignore', 'inherit'],
    })
    const [code] = (await once(child, 'close')) as [number]
    assert.equal(code, 0, 'the SDK sent everything')
    await until('the errors are listed', async () => (await listErrors()).length === 2)
    assert.deepEqual(
      (await listErrors()).map(({ name, events }) => `${name.split(' ')[0]} ${events}`).toSorted(),
      ['SyntaxError 3', 'step 3'],
    )
  },
}

/** Every program that is tried. Those that npm installs are in `npm test` too. */
export const PROGRAMS: readonly Program[] = [alertmanager, sentryNode]
