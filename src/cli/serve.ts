import type { Command } from 'commander'
import type { AddressInfo } from 'node:net'
import type { Logger } from 'pino'
import { createApp, openInstance, startJobs, type Opened } from '../app.ts'
import { ensureRoot } from '../access/root.ts'
import { command, openCli, type Cli } from './command.ts'

/** Milliseconds that requests under way get to end after a stop was asked for. */
const DRAIN = 10_000

export function addServe(program: Command): void {
  command(program, 'serve', 'run the server')
    .option('--no-worker', 'leave the jobs to `guildhall worker`')
    .action(async (options: { json?: boolean; worker: boolean }) => {
      const cli = openCli(options)
      const opened = await openInstance(cli.config, { log: cli.log })
      const stop = await serve(opened, cli, options.worker).catch(async (error: unknown) => {
        await opened.close()
        throw error
      })
      onSignal(cli.log, stop)
    })
  command(program, 'worker', 'run jobs only, beside a server').action(async (options: { json?: boolean }) => {
    const cli = openCli(options)
    const opened = await openInstance(cli.config, { log: cli.log, join: true })
    const worker = await startJobs(opened, cli.log)
    cli.say({ worker: 'running' }, 'The worker is running. Ctrl-C stops it.')
    onSignal(cli.log, async () => {
      await worker.stop()
      await opened.close()
    })
  })
}

async function serve(opened: Opened, cli: Cli, withWorker: boolean): Promise<() => Promise<void>> {
  const { config, log } = cli
  const root = await ensureRoot(opened.instance)
  const { app, drain } = createApp(opened, { log })
  await app.listen({ host: config.host, port: config.port })
  const { port } = app.server.address() as AddressInfo
  const url = config.port === 0 ? `http://localhost:${port}` : config.url
  cli.say({ url, root_token: root }, banner(url, root))
  const worker = withWorker ? await startJobs(opened, log) : undefined
  return async () => {
    drain()
    const late = setTimeout(() => app.server.closeAllConnections(), DRAIN)
    await Promise.all([app.close(), worker?.stop()])
    clearTimeout(late)
    await opened.close()
  }
}

function banner(url: string, token: string | undefined): string {
  const shown = token ?? '$TOKEN'
  const known = token
    ? `  Administrator's token  ${token}\n                         (shown this once: keep it)`
    : "  The administrator's token was shown at the first start; `guildhall token create --user root` makes another."
  return `
  Guildhall runs at      ${url}
  Its interface          ${url}/-/docs
${known}

  curl ${url}/api/v4/groups
  curl -H 'PRIVATE-TOKEN: ${shown}' ${url}/api/v4/namespaces
  curl -H 'PRIVATE-TOKEN: ${shown}' '${url}/api/v4/application/plan_limits?plan_name=default'
`
}

/** The first signal stops in order, a second one at once. */
function onSignal(log: Logger, stop: () => Promise<void>): void {
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
  process.on('SIGTERM', handle)
}
