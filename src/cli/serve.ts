import { once } from 'node:events'
import { createServer, type Server as NetServer } from 'node:net'
import type { AddressInfo } from 'node:net'
import type { Server } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'
import { setFlagsFromString } from 'node:v8'
import type { Command } from 'commander'
import type { FastifyInstance } from 'fastify'
import type { Logger } from 'pino'
import { ensureRoot, type Root } from '../access/root.ts'
import { openInstance, startJobs, type Opened } from '../open.ts'
import { atPort, type Config } from '../config.ts'
import { isAway } from '../db/errors.ts'
import { startReconciler, type Reconciler } from '../core/pushes/reconciler.ts'
import { startSweeping } from '../core/repositories/repositories.ts'
import type { Worker } from '../jobs/worker.ts'
import { withAddress, writeAddress } from './address.ts'
import { Refusal, act, checkData, command, type Cli } from './command.ts'

/** Milliseconds that requests under way get to end after a stop was asked for. */
const DRAIN = 10_000
/** Milliseconds until a worker that found no database tries again. */
const RETRY = 1_000
/** Milliseconds of those in which the door stays open, for readiness to be seen failing. */
const LINGER = 2_000

/** By itself V8 lets garbage grow to several times what lives before it collects: memory that others could use. */
const collectSooner = (): void => setFlagsFromString('--heap-growing-percent=40')

export function addServe(program: Command): void {
  const under = 'Server'
  command({ parent: program, name: 'serve', description: 'run the server; Ctrl-C stops it', under })
    .option('--no-worker', 'leave the jobs to guildhall worker')
    .action((options: { worker: boolean }) =>
      act({ ...options }, 'info', async (cli) => {
        collectSooner()
        const config = await settlePort(cli.config)
        const opened = await openInstance(config, { log: cli.log })
        await orClose(opened, serve(opened, { ...cli, config }, options.worker))
      }),
    )
  command({ parent: program, name: 'worker', description: 'run jobs only, beside a server', under }).action(
    (options: object) =>
      act({ ...options }, 'info', async (cli) => {
        collectSooner()
        checkData(cli.config)
        const opened = await openBeside(cli)
        const worker = startJobs(opened, cli.log)
        untilStopped(cli.log, async () => {
          await worker.stop()
          await opened.close()
        })
        cli.say({ worker: 'running' }, 'The worker is running. Ctrl-C stops it.')
      }),
  )
}

/** Opens what the server has opened; where the database goes away meanwhile, again. */
async function openBeside({ config, log }: Cli): Promise<Opened> {
  for (;;)
    try {
      return await openInstance(withAddress(config), { log, join: 'wait' })
    } catch (error) {
      if (!isAway(error)) throw error
      log.warn({ err: error }, 'the database went away while the worker started')
      await sleep(RETRY)
    }
}

/** The result of `work`; when that fails, `opened` is closed first. */
const orClose = <Result>(opened: Opened, work: Promise<Result>): Promise<Result> =>
  work.catch(async (error: unknown) => {
    await opened.close()
    throw error
  })

/** Port 0 means any: one that is free is found before anything is built that writes addresses. */
async function settlePort(config: Config): Promise<Config> {
  if (config.port !== 0) return config
  const probe: NetServer = createServer()
  probe.listen(0, config.host)
  await once(probe, 'listening').catch((error: unknown) => {
    throw listenFailure(config, error)
  })
  const { port } = probe.address() as AddressInfo
  probe.close()
  await once(probe, 'close')
  return atPort(config, port)
}

async function serve(opened: Opened, { config, log, say }: Cli, withWorker: boolean): Promise<void> {
  // Loaded here, and not by every command: it is most of the program.
  const { createApp } = await import('../app.ts')
  const { app, drain } = createApp(opened, { log })
  const isQuiet = countRequests(app.server)
  let worker: Worker | undefined
  let forgetAddress = (): void => {}
  let reconciler: Reconciler | undefined
  let sweeping: ReturnType<typeof startSweeping> | undefined
  const stop = async (): Promise<void> => {
    drain()
    forgetAddress()
    sweeping?.stop()
    const jobs = worker?.stop()
    await closeDoor(app, isQuiet)
    await Promise.all([jobs, reconciler?.stop()])
    await opened.close()
  }
  try {
    // Before anybody can look: what a crash left between git and the database.
    reconciler = await startReconciler(opened.instance, (detail, text) => log.warn(detail, text))
    await app.listen({ host: config.host, port: config.port }).catch((error: unknown) => {
      throw listenFailure(config, error)
    })
    sweeping = startSweeping(opened.instance.git, (detail, text) => log.info(detail, text))
    worker = withWorker ? startJobs(opened, log) : undefined
    // Last of all: a start that fails must not have shown the one token there is to nobody.
    const root = await ensureRoot(opened.instance)
    // A reader of the address may stop the server in the same moment.
    forgetAddress = writeAddress(config)
    untilStopped(log, stop)
    say(report(config, root), banner(config, root))
  } catch (error) {
    sweeping?.stop()
    await Promise.all([app.close(), worker?.stop(), reconciler?.stop()])
    throw error
  }
}

/** Tells whether no request is under way. Counted by answers that closed, so that broken-off ones count too. */
function countRequests(server: Server): () => boolean {
  let underWay = 0
  server.on('request', (_request, response) => {
    underWay += 1
    response.once('close', () => (underWay -= 1))
  })
  return () => underWay === 0
}

async function closeDoor(app: FastifyInstance, isQuiet: () => boolean): Promise<void> {
  const late = setTimeout(() => app.server.closeAllConnections(), DRAIN)
  const end = performance.now() + LINGER
  while (!isQuiet() && performance.now() < end) await sleep(10)
  await app.close()
  clearTimeout(late)
}

function listenFailure({ host, port }: Config, error: unknown): unknown {
  const code = error instanceof Error && 'code' in error ? error.code : undefined
  switch (code) {
    case 'EADDRINUSE':
      return new Refusal(`port ${port} of ${host} is in use; set GUILDHALL_PORT to another, or 0 for any`)
    case 'EACCES':
      return new Refusal(
        `port ${port} of ${host} is not allowed to this user; set GUILDHALL_PORT to one above 1023`,
      )
    case 'EADDRNOTAVAIL':
    case 'ENOTFOUND':
    case 'EAI_AGAIN':
      return new Refusal(`GUILDHALL_HOST is "${host}", which is no address of this machine`)
    default:
      return error
  }
}

/** A token that came from outside is known there, and is not repeated. */
const tokenToShow = (config: Config, root: Root): string | undefined =>
  config.rootToken === undefined ? root.token : undefined

const report = (config: Config, root: Root): object => ({
  url: config.url,
  data_dir: config.dataDir,
  root_token: tokenToShow(config, root),
})

function banner(config: Config, root: Root): string {
  const { url, dataDir } = config
  const token = tokenToShow(config, root)
  const shown = token ?? '$TOKEN'
  const known = token
    ? `${token}\n                         (user ${root.username}; shown this once: keep it)`
    : root.token
      ? `the one in GUILDHALL_ROOT_TOKEN (user ${root.username})`
      : `shown at the first start; bin/guildhall token create --user ${root.username}\n                         makes another`
  const fresh = root.token
    ? '\n  bin/guildhall demo     makes a small world to look at; in another window\n'
    : ''
  return `
  Guildhall runs at      ${url}
  Its interface          ${url}/-/docs
  Its files              ${dataDir}
  Administrator's token  ${known}
${fresh}
  curl ${url}/api/v4/groups
  curl -H "PRIVATE-TOKEN: ${shown}" ${url}/api/v4/namespaces
  curl -H "PRIVATE-TOKEN: ${shown}" '${url}/api/v4/application/plan_limits?plan_name=default'
`
}

/** Returns at once. The first signal stops in order, a second one at once; so does an error that nobody caught. */
function untilStopped(log: Logger, stop: () => Promise<void>): void {
  let stopping = false
  const handle = (signal: NodeJS.Signals): void => {
    if (stopping) process.exit(130)
    stopping = true
    log.info({ signal }, 'stopping')
    stop().then(
      () => process.exit(0),
      (error: unknown) => {
        log.error({ err: error }, 'stopping failed')
        process.exit(1)
      },
    )
  }
  process.on('SIGINT', handle)
  process.on('SIGHUP', handle)
  process.on('SIGTERM', handle)
  // The process ends: its state is unknown, and acknowledged writes are durable.
  process.on('uncaughtException', (error) => {
    log.fatal({ err: error }, 'an error that nobody caught ends the process')
    process.exit(1)
  })
}
