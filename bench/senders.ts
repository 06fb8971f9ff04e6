import { fork } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { pino } from 'pino'
import { create, pathOf } from '../src/alerts/integrations.ts'
import { readConfig } from '../src/config.ts'
import { setSetting } from '../src/core/settings/settings.ts'
import * as clientKeys from '../src/errors/client_keys.ts'
import * as errorSettings from '../src/errors/settings.ts'
import { openInstance } from '../src/open.ts'
import { createMakers } from '../test/support/makers.ts'
import { sendAll, type Posted, type Posts } from './posts.ts'
import { startServer } from './server.ts'

// Alerts and errors per second beside one durable insert each, and reads during a flood of errors.

const CONNECTIONS = 16
const FLOOD_CONNECTIONS = 64
const FLOOD_SECONDS = 30

export interface SenderLine {
  readonly name: string
  readonly ours: Posted
  /** The durable insert, or the reads without a flood. */
  readonly beside: Posted
  readonly ratio: number
  readonly wanted: string
  readonly met: boolean
}

interface Filled {
  readonly token: string
  readonly project: number
  readonly alerts: { readonly path: string; readonly key: string }
  readonly key: string
  readonly connection: object
}

/** A project that takes alerts and errors without a quota, and has issues to read. */
async function fill(env: Readonly<Record<string, string>>): Promise<Filled> {
  const opened = await openInstance(readConfig(env), { log: pino({ level: 'warn' }), join: true })
  try {
    const { instance, client } = opened
    const make = createMakers(instance)
    const project = await make.project()
    const { token } = await make.memberOf('owner', { project })
    await client.pool.query(
      `insert into issues (project_id, iid, title) select $1, n, 'Issue ' || n from generate_series(1, 1000) n`,
      [project.id],
    )
    const { integration, key } = await create(instance.db, {
      project,
      name: 'b',
      type: 'http',
      mapping: null,
    })
    await errorSettings.save(instance.db, { project_id: project.id, active: true, integrated: true })
    const { sealed } = await clientKeys.create(instance, project.id)
    await setSetting(instance.db, 'error_tracking_events_per_minute', 100_000_000)
    const { host, port, user, database } = client.pool.options
    return {
      token,
      project: project.id,
      alerts: { path: pathOf(project.full_path, integration), key },
      key: instance.vault.open(sealed),
      connection: { host, port, user, database },
    }
  } finally {
    await opened.close()
  }
}

const FRAMES = Array.from({ length: 20 }, (_, n) => ({
  filename: `/srv/app/src/file_${n}.js`,
  function: `step${n}`,
  lineno: n,
  in_app: true,
}))
const alert = (fingerprint: string): string =>
  JSON.stringify({ title: 'Disk full', service: 'store', hosts: ['a'], severity: 'high', fingerprint })
const event = (n: number): string =>
  JSON.stringify({
    exception: { values: [{ type: `Error${n % 100}`, value: `of ${n}`, stacktrace: { frames: FRAMES } }] },
    release: 'app@1.2.3',
    user: { id: String(n % 1_000) },
  })

export async function benchSenders(seconds: number, note: (text: string) => void): Promise<SenderLine[]> {
  const folder = await mkdtemp(join(tmpdir(), 'guildhall-senders-'))
  const env = {
    PATH: process.env['PATH'] ?? '',
    GUILDHALL_DATA_DIR: join(folder, 'data'),
    GUILDHALL_PORT: '0',
  }
  const server = await startServer(env)
  const floor = fork(fileURLToPath(new URL('insert_floor.ts', import.meta.url)), {
    execArgv: ['--import', 'tsx'],
  })
  try {
    const filled = await fill(env)
    floor.send(filled.connection)
    const [port] = (await once(floor, 'message')) as [number]
    const bare = `http://127.0.0.1:${port}/`
    const lines: SenderLine[] = []
    for (const [name, call] of callsOf(server.url, filled)) {
      note(`POST ${name} …`)
      lines.push(await compare(name, { ...call, connections: CONNECTIONS, seconds }, bare))
    }
    note('reads during a flood of errors …')
    lines.push(await readDuringFlood(server.url, filled))
    return lines
  } finally {
    floor.kill()
    await server.stop()
    await rm(folder, { recursive: true, force: true })
  }
}

type Call = Pick<Posts, 'url' | 'headers'> & Required<Pick<Posts, 'body'>>

function callsOf(url: string, { alerts, project, key }: Filled): [string, Call][] {
  const receiver = {
    url: url + alerts.path,
    headers: { authorization: `Bearer ${alerts.key}`, 'content-type': 'application/json' },
  }
  return [
    ['new alerts', { ...receiver, body: (n) => alert(`new ${n}`) }],
    ['repeated alerts', { ...receiver, body: (n) => alert(`known ${n % 100}`) }],
    ['events', { ...collector(url, project, key), body: event }],
  ]
}
const collector = (url: string, project: number, key: string): Pick<Posts, 'url' | 'headers'> => ({
  url: `${url}/api/v4/error_tracking/collector/api/${project}/store/?sentry_key=${key}`,
  headers: { 'content-type': 'application/json' },
})

/** The median of three rounds each, one after the other, so that both meet the same machine. */
async function compare(name: string, posts: Posts, bare: string): Promise<SenderLine> {
  const [ours, floor]: [Posted[], Posted[]] = [[], []]
  for (let round = 0; round < 3; round += 1) {
    ours.push(await sendAll(posts))
    floor.push(await sendAll({ ...posts, url: bare }))
  }
  const middle = (rounds: Posted[]): Posted => {
    const [, found] = rounds.toSorted((a, b) => a.perSecond - b.perSecond)
    if (found === undefined) throw new Error('there were no rounds')
    return found
  }
  const [mine, beside] = [middle(ours), middle(floor)]
  const ratio = mine.perSecond / beside.perSecond
  return { name, ours: mine, beside, ratio, wanted: '>= 0.5', met: ratio >= 0.5 && mine.refused === 0 }
}

/** Four readers of a list, alone and while many connections send errors as fast as they can. */
async function readDuringFlood(url: string, { token, project, key }: Filled): Promise<SenderLine> {
  const reads: Posts = {
    url: `${url}/api/v4/projects/${project}/issues`,
    method: 'GET',
    headers: { 'private-token': token },
    connections: 4,
    seconds: FLOOD_SECONDS,
  }
  await sendAll({ ...reads, seconds: 2 })
  const beside = await sendAll({ ...reads, seconds: 10 })
  const flood = { ...collector(url, project, key), body: event }
  const [ours] = await Promise.all([
    sendAll(reads),
    sendAll({ ...flood, connections: FLOOD_CONNECTIONS, seconds: FLOOD_SECONDS }),
  ])
  const ratio = ours.p99 / beside.p99
  return { name: 'reads during a flood, p99', ours, beside, ratio, wanted: '<= 2', met: ratio <= 2 }
}
