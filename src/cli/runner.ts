import { existsSync, readFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { Option, type Command } from 'commander'
import { PACKAGE_ROOT } from '../package_root.ts'
import { Coordinator, Refused } from '../runner/coordinator.ts'
import { dropPrivileges } from '../runner/privileges.ts'
import { runRunner } from '../runner/runner.ts'
import { systemIdOf } from '../runner/workplace.ts'
import { Misuse, Refusal, act, command, type Cli } from './command.ts'

interface Given {
  readonly url: string
  readonly token?: string
  readonly tokenFile?: string
  readonly concurrent: number
  readonly jobs?: number
  readonly buildsDir?: string
  readonly cacheDir?: string
  readonly user?: string
}

const readCount = (given: string): number => {
  const count = Number(given)
  if (!Number.isInteger(count) || count < 1 || count > 1_000)
    throw new Misuse(`a count is a whole number from 1 to 1000, not "${given}"`)
  return count
}

/** Runs jobs of pipelines on this machine. It speaks the protocol of runners and needs no data directory. */
export function addRunner(program: Command): void {
  command({ parent: program, name: 'runner', description: 'run jobs on this machine', under: 'Pipelines' })
    .requiredOption('--url <url>', 'the address of the server')
    .addOption(
      new Option('--token <token>', "the runner's token, glrt-…; others on this machine see it").env(
        'GUILDHALL_RUNNER_TOKEN',
      ),
    )
    .option('--token-file <path>', 'a file that holds the token')
    .option('--concurrent <count>', 'how many jobs run at once', readCount, 1)
    .option('--jobs <count>', 'end after so many jobs', readCount)
    .option('--builds-dir <path>', 'where jobs run; a folder of temporary files')
    .option('--cache-dir <path>', 'where caches are kept; cache in the folder of builds')
    .option('--user <name>', 'whose jobs they are, where root starts this; nobody')
    .action((given: Given) => act({ ...given }, 'info', (cli) => start(given, cli)))
}

function tokenOf({ token, tokenFile }: Given): string {
  if (tokenFile !== undefined) {
    if (!existsSync(tokenFile)) throw new Misuse(`there is no file ${tokenFile}`)
    return readFileSync(tokenFile, 'utf8').trim()
  }
  if (token === undefined || token === '')
    throw new Misuse('a token is needed: --token-file, GUILDHALL_RUNNER_TOKEN or --token')
  return token
}

async function start(given: Given, { config, log }: Cli): Promise<void> {
  const url = given.url.replace(/\/+$/, '')
  if (!/^https?:\/\//.test(url) || !URL.canParse(url))
    throw new Misuse(`--url takes an address such as https://guild.example.com, not "${given.url}"`)
  const token = tokenOf(given)
  const { version } = JSON.parse(readFileSync(new URL('package.json', PACKAGE_ROOT), 'utf8')) as {
    version: string
  }
  const builds = resolve(given.buildsDir ?? join(tmpdir(), `guildhall-builds-${given.user ?? 'runner'}`))
  try {
    dropPrivileges(builds, given.user)
  } catch (error) {
    throw new Refusal(error instanceof Error ? error.message : String(error))
  }
  const coordinator = new Coordinator({ url, token, version, systemId: systemIdOf(builds) })
  const { stop, shutdown } = signals((text) => log.info(text))
  try {
    await coordinator.verify(stop)
    log.info({ url, concurrent: given.concurrent }, 'the runner is ready')
    await runRunner({
      coordinator,
      builds,
      caches: resolve(given.cacheDir ?? join(builds, 'cache')),
      env: { PATH: config.path, LANG: 'C.UTF-8' },
      version,
      concurrency: given.concurrent,
      jobs: given.jobs,
      stop,
      shutdown,
      say: (detail, text) => log.info(detail, text),
    })
  } catch (error) {
    if (stop.aborted) return
    throw error instanceof Refused ? new Refusal(error.message) : error
  }
}

/** The first signal lets the jobs that run come to their end, the second stops them. */
function signals(say: (text: string) => void): {
  readonly stop: AbortSignal
  readonly shutdown: AbortSignal
} {
  const [stop, shutdown] = [new AbortController(), new AbortController()]
  const hear = (): void => {
    if (stop.signal.aborted) shutdown.abort()
    else {
      say('no more jobs are taken; those that run come to their end')
      stop.abort()
    }
  }
  for (const name of ['SIGTERM', 'SIGINT'] as const) process.on(name, hear)
  return { stop: stop.signal, shutdown: shutdown.signal }
}
