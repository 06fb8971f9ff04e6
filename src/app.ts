import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import type { FastifyBaseLogger, FastifyInstance } from 'fastify'
import { createLimiter } from './access/limits.ts'
import { checkSecret, openVault } from './access/secrets.ts'
import { createSignIn } from './access/sign_in.ts'
import { operations } from './areas/index.ts'
import type { Config } from './config.ts'
import { mountDocs } from './console/docs.ts'
import { createMetrics, mountHealth } from './console/health.ts'
import { openMoving } from './core/moving.ts'
import { maintainRepository, measureRepository } from './core/repositories.ts'
import { openSettings } from './core/settings.ts'
import type { Client } from './db/client.ts'
import { isAway } from './db/errors.ts'
import { openDatabase, type Database } from './db/database.ts'
import { migrate } from './db/migrate.ts'
import { isGitAway } from './git/errors.ts'
import { openGit } from './git/git.ts'
import type { AnswerCheck } from './http/answers.ts'
import { mount } from './http/dispatch.ts'
import { createServer, type ServerOptions } from './http/server.ts'
import type { Instance } from './instance.ts'
import type { AnyJob } from './jobs/job.ts'
import { migrateQueue, startWorker, type Worker } from './jobs/worker.ts'
import type { TransportOptions } from './transport/conversation.ts'
import { mountGit } from './transport/git_routes.ts'

// The only place where things are constructed.

const JOBS: readonly AnyJob[] = [measureRepository, maintainRepository]

export interface Opened {
  readonly instance: Instance
  readonly client: Client
  close(): Promise<void>
}

export interface OpenOptions {
  readonly log: FastifyBaseLogger
  /** Work beside a server that is already running on the data directory. */
  readonly join?: boolean
  readonly onStatement?: (name: string) => void
}

/** Opens everything but the doors: the database brought up to date, git, settings, secrets. */
export async function openInstance(config: Config, options: OpenOptions): Promise<Opened> {
  const { log, join: joins = false, onStatement } = options
  await mkdir(config.dataDir, { recursive: true, mode: 0o700 })
  const database = await openDatabase(config, {
    join: joins,
    log: (line) => log.info({ from: 'database' }, line),
    ...(onStatement && { onStatement }),
  })
  try {
    return await furnish(config, database, log)
  } catch (error) {
    await database.close()
    throw error
  }
}

async function furnish(config: Config, database: Database, log: FastifyBaseLogger): Promise<Opened> {
  const { client } = database
  const applied = await migrate(client)
  if (applied.length > 0) log.info({ applied }, 'the database was brought up to date')
  await migrateQueue(client)
  const [settings, vault] = await Promise.all([openSettings(client), openVault(config.secretFile)])
  await checkSecret(client, vault, config.secretFile)
  const root = join(config.dataDir, 'repositories')
  await mkdir(root, { recursive: true, mode: 0o700 })
  const git = openGit({ root, path: config.path, log: (event) => log.warn(event, 'git') })
  return {
    client,
    instance: {
      config,
      db: client,
      git,
      settings,
      vault,
      moving: openMoving(join(config.dataDir, 'moving')),
    },
    close: async () => {
      await git.close()
      await database.close()
    },
  }
}

export type AppOptions = Partial<Omit<ServerOptions, 'logger'>> & {
  readonly log: FastifyBaseLogger
  readonly checkAnswers?: AnswerCheck
  readonly transport?: TransportOptions
}

/** The HTTP server over an instance, not yet listening. `draining` makes readiness fail. */
export function createApp(
  { instance, client }: Pick<Opened, 'instance' | 'client'>,
  { log, checkAnswers, transport, ...options }: AppOptions,
): { app: FastifyInstance; drain: () => void } {
  const { config } = instance
  const metrics = createMetrics(client)
  const app = createServer({
    logger: log,
    onAnswer: metrics.onAnswer,
    trustProxy: config.trustedProxies,
    isAway: (error) => isAway(error) || isGitAway(error),
    ...options,
  })
  const admit = createLimiter(instance.settings)
  const signIn = createSignIn(instance)
  const served = operations.filter((op) => config.contract === 'all' || op.published !== true)
  mount(app, '/api/v4', served, {
    instance,
    checkAnswers,
    signIn,
    admit,
  })
  mountGit(app, { instance, admit, ...transport })
  const { drain } = mountHealth(app, { client, metrics, config, signIn })
  mountDocs(app, served, config)
  return { app, drain }
}

export const startJobs = ({ client, instance }: Opened, log: FastifyBaseLogger): Promise<Worker> =>
  startWorker(client, instance, JOBS, log)
