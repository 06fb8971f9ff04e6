import type { FastifyBaseLogger, FastifyInstance } from 'fastify'
import { INCONSISTENCIES, createInspection } from './ci/check.ts'
import { createLimiter } from './access/limits.ts'
import { createSignIn } from './access/sign_in.ts'
import { ABOUT } from './areas/about.ts'
import { operations } from './areas/index.ts'
import { packageAddress } from './areas/packages/addresses.ts'
import { StorageAway } from './blobs/storage.ts'
import { mountDocs } from './console/docs.ts'
import { createMetrics, mountHealth } from './console/health.ts'
import { mountEventStream } from './console/event_stream.ts'
import { mountInvites } from './console/invites.ts'
import { mountConsole, type ConsoleOptions } from './console/mount.ts'
import { pageAddress } from './console/web/address.ts'
import { mountCoordinator } from './coordinator/routes.ts'
import { createWaiting } from './coordinator/waiting.ts'
import { isAway, isDiskFull } from './db/errors.ts'
import { isGitAway, isGitDiskFull } from './git/errors.ts'
import { foldPaths } from './http/server/addresses.ts'
import { allowedAt } from './http/server/allowed.ts'
import type { AnswerCheck } from './http/answers/answers.ts'
import { mount } from './http/dispatch.ts'
import { problemOf, type Faults } from './http/server/fault.ts'
import { createServer, type ServerOptions } from './http/server/server.ts'
import type { Opened } from './open.ts'
import type { TransportOptions } from './transport/git_http.ts'
import { mountGit } from './transport/git_routes.ts'

const FAULTS: Faults = {
  isAway: (error) => isAway(error) || isGitAway(error) || error instanceof StorageAway,
  isDiskFull: (error) => isDiskFull(error) || isGitDiskFull(error),
}

// Where the doors are constructed; what they open on is in `open.ts`.

export type AppOptions = Partial<Omit<ServerOptions, 'logger'>> & {
  readonly log: FastifyBaseLogger
  readonly checkAnswers?: AnswerCheck
  readonly transport?: TransportOptions
  readonly stallMs?: number
}

/** The HTTP server over an instance, not yet listening. `draining` makes readiness fail. */
export function createApp(
  { instance, client }: Pick<Opened, 'instance' | 'client'>,
  { log, checkAnswers, transport, stallMs, ...options }: AppOptions,
): { app: FastifyInstance; drain: () => void } {
  const { config } = instance
  const metrics = createMetrics(client, { kinds: INCONSISTENCIES, look: createInspection(instance.db) })
  const served = operations.filter((op) => config.contract === 'all' || op.published !== true)
  const fold = foldPaths(served)
  const app = createServer({
    logger: log,
    onAnswer: metrics.onAnswer,
    allowed: allowedAt('/api/v4', served),
    rewrite: (url, asked) => {
      const known = packageAddress(fold(url))
      return known === url ? pageAddress(url, asked) : known
    },
    trustProxy: config.trustedProxies,
    ...FAULTS,
    ...options,
  })
  const admit = createLimiter(instance.settings)
  const signIn = createSignIn(instance)
  mount(app, '/api/v4', served, {
    instance,
    checkAnswers,
    stallMs,
    signIn,
    admit,
  })
  mountGit(app, { instance, admit, ...transport })
  const waiting = createWaiting()
  client.listen('ci_queue', waiting.announce)
  mountCoordinator(app, { instance, traces: instance.traces, waiting, admit })
  const { drain } = mountHealth(app, { client, metrics, config, blobs: instance.blobs, signIn, admit })
  mountDocs(app, served, { config, about: ABOUT })
  mountInvites(app, instance, admit)
  const faultOf: ConsoleOptions['faultOf'] = (error, request) =>
    problemOf(error, request, { ...FAULTS, ...options })
  mountConsole(app, { operations: served, instance, admit, checkAnswers, faultOf })
  mountEventStream(app, { instance, signIn, admit })
  return { app, drain }
}
