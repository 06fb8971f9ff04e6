import { statfs } from 'node:fs/promises'
import type { FastifyBaseLogger, FastifyInstance, FastifyRequest } from 'fastify'
import { sql } from 'kysely'
import { Counter, Gauge, Histogram, Registry, collectDefaultMetrics } from 'prom-client'
import type { Blobs } from '../blobs/blobs.ts'
import type { Config } from '../config.ts'
import type { Client } from '../db/client.ts'
import { statement } from '../db/statement.ts'
import type { Surroundings } from '../http/surroundings.ts'
import { emptyTree } from '../http/params/forms.ts'
import { Problem, noRoute } from '../http/problems.ts'

export interface Metrics {
  readonly registry: Registry
  readonly onAnswer: (operation: string, method: string, status: number, duration: number) => void
}

let watched: Registry | undefined
/** Metrics of the process, registered once for all its servers: the library cannot remove its observers. */
function ofProcess(): Registry {
  if (watched !== undefined) return watched
  watched = new Registry()
  collectDefaultMetrics({ register: watched })
  return watched
}

/** Milliseconds between two looks for inconsistencies; each look costs statements. */
const LOOK_INTERVAL = 10_000

/** Something that may not be, by its kind. */
export interface Inspection {
  readonly kinds: readonly string[]
  readonly look: () => Promise<readonly { readonly kind: string }[]>
}

/** Counts what is worth watching. Labels are names of operations, never what a caller sent. */
export function createMetrics(client: Client, inspection: Inspection): Metrics {
  const registry = new Registry()
  const answers = new Histogram({
    name: 'guildhall_http_request_duration_seconds',
    help: 'Time from the first byte of a request to the last of its answer',
    labelNames: ['operation', 'method', 'status'],
    buckets: [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10],
    registers: [registry],
  })
  const connections = new Gauge({
    name: 'guildhall_database_connections',
    help: 'Connections of the pool, by what they are doing',
    labelNames: ['state'],
    registers: [registry],
    collect() {
      connections.set({ state: 'open' }, client.pool.totalCount)
      connections.set({ state: 'idle' }, client.pool.idleCount)
      connections.set({ state: 'waited_for' }, client.pool.waitingCount)
    },
  })
  let looked = 0
  const inconsistencies = new Counter({
    name: 'guildhall_ci_inconsistencies_total',
    help: 'Jammed resource groups, and jobs and pipelines in states that cannot be, by kind',
    labelNames: ['kind'],
    registers: [registry],
    async collect() {
      if (Date.now() - looked < LOOK_INTERVAL) return
      looked = Date.now()
      for (const { kind } of await inspection.look().catch(() => [])) inconsistencies.inc({ kind })
    },
  })
  for (const kind of inspection.kinds) inconsistencies.inc({ kind }, 0)
  return {
    registry: Registry.merge([ofProcess(), registry]),
    onAnswer: (operation, method, status, duration) =>
      answers.observe({ operation, method, status: String(status) }, duration / 1000),
  }
}

interface HealthOptions extends Pick<Surroundings, 'signIn' | 'admit'> {
  readonly client: Client
  readonly metrics: Metrics
  readonly config: Config
  readonly blobs: Pick<Blobs, 'check'>
}

interface DatabaseState {
  readonly read_only: boolean
  readonly has_admin: boolean
}
const stateOfDatabase = statement(
  () => sql<DatabaseState>`
    select pg_is_in_recovery() or current_setting('default_transaction_read_only')::boolean as read_only,
           exists (select from users where admin) as has_admin`,
)

/** Bytes below which a disk is as good as full. */
const ROOM = 16 * 1024 * 1024

/** Whether the disk of a folder has no room left; not when that cannot be told. */
async function isDiskFull(folder: string): Promise<boolean> {
  const disk = await statfs(folder).catch(() => undefined)
  return disk !== undefined && disk.blocks > 0 && disk.bavail * disk.bsize < ROOM
}

/** Why the server cannot serve, undefined when it can. */
async function unreadiness(
  { client, config: { dataDir }, blobs }: Pick<HealthOptions, 'client' | 'config' | 'blobs'>,
  log: FastifyBaseLogger,
): Promise<string | undefined> {
  const state = await client.one(stateOfDatabase, {}).catch(() => undefined)
  if (state === undefined) return 'the database is away'
  if (state.read_only) return 'the database is read-only'
  if (await isDiskFull(dataDir)) return 'the disk is full'
  if (!state.has_admin) return 'there is no administrator yet'
  return blobs.check().then(
    () => undefined,
    (error: unknown) => {
      log.warn({ err: error }, 'the blob store is away')
      return 'the blob store is away'
    },
  )
}
const LOOPBACK = new Set(['127.0.0.1', '::1', '::ffff:127.0.0.1'])

/** Metrics are for the machine itself, and for administrators: on the same machine a proxy may stand before the world. */
const mayWatch = async (
  request: FastifyRequest,
  { config, signIn }: Pick<HealthOptions, 'config' | 'signIn'>,
): Promise<boolean> => {
  const { headers, method, ip, socket } = request
  const local = LOOPBACK.has(socket.remoteAddress ?? '')
  const proxied = headers['x-forwarded-for'] !== undefined || headers.forwarded !== undefined
  if (local && !proxied && /^(localhost|127\.0\.0\.1|\[::1\])$/.test(config.hostname)) return true
  const { actor } = await signIn({ method, headers, sent: emptyTree(), ip, preload: undefined })
  return actor?.admin === true
}

/** Liveness, readiness and metrics. After `drain` the server says that it is not ready. */
export function mountHealth(
  app: FastifyInstance,
  { metrics, admit, ...who }: HealthOptions,
): { drain: () => void } {
  let draining = false
  app.get('/-/liveness', async (_request, reply) =>
    reply.type('application/json').send(Buffer.from('{"status":"ok"}')),
  )
  app.get('/-/readiness', async (request, reply) => {
    const reason = draining ? undefined : await unreadiness(who, request.log)
    const status = draining ? 'draining' : reason === undefined ? 'ok' : 'failed'
    return reply
      .code(status === 'ok' ? 200 : 503)
      .headers(status === 'ok' ? {} : { 'retry-after': '1' })
      .type('application/json')
      .send(Buffer.from(JSON.stringify({ status, reason })))
  })
  app.get('/-/metrics', async (request, reply) => {
    const watches = await mayWatch(request, who).catch(async (refusal: unknown) => {
      // A token that will not do is a guess, here as elsewhere.
      if (refusal instanceof Problem) reply.headers(await admit(null, request.ip))
      throw refusal
    })
    if (!watches) throw noRoute()
    return reply.type(metrics.registry.contentType).send(await metrics.registry.metrics())
  })
  return {
    drain: () => {
      draining = true
    },
  }
}
