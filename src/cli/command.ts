import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { Help, type Command } from 'commander'
import { pino, type Logger } from 'pino'
import { openInstance, type Opened } from '../open.ts'
import { readConfig, type Config, type LogLevel } from '../config.ts'
import { isAway } from '../db/errors.ts'
import { withAddress } from './address.ts'
import { printable } from './printable.ts'
import { openProgress, type Progress } from './progress.ts'

/** Prints a refusal of the instance on one line; the exit status is 1. */
export class Refusal extends Error {}

/** Words that are wrong whatever the instance holds; nothing was opened, and the exit status is 2. */
export class Misuse extends Error {}

export interface Cli {
  readonly config: Config
  readonly log: Logger
  /** Prints a result: `text` for people, `value` as one line of JSON with `--json`. */
  readonly say: (value: object, text: string) => void
  /** Shows how far a long work has come, on standard error, and nothing with `--json`. */
  readonly progress: Progress
}

type Options = Readonly<Record<string, unknown>>

/**
 * Logs go to standard error, one JSON line each, so that results and logs never mix. Lines are written many at a time,
 * a quarter of a second late at most, and all of them before the process ends.
 */
const logger = (level: LogLevel): Logger =>
  pino({ level, base: null }, pino.destination({ fd: 2, sync: false, minLength: 4_096, periodicFlush: 250 }))

/** Runs `work` with the configuration, a log and the ways to tell a person something. */
export async function act(
  options: Options,
  level: LogLevel,
  work: (cli: Cli) => Promise<void>,
): Promise<void> {
  const config = readConfig()
  const log = logger(config.logLevel ?? level)
  const json = options['json'] === true
  const progress = openProgress(json ? undefined : process.stderr)
  try {
    await work({
      config,
      log,
      say: (value, text) => process.stdout.write(`${json ? JSON.stringify(value) : printable(text)}\n`),
      progress,
    })
  } catch (error) {
    progress.end()
    if (!(error instanceof Refusal)) log.debug({ err: error }, 'the command failed')
    throw error
  }
}

/** Throws a Refusal where no server has made its data: a command would make a second world in silence. */
export function checkData({ databaseUrl, dataDir }: Config): void {
  if (databaseUrl !== undefined || existsSync(join(dataDir, 'postgres', 'PG_VERSION'))) return
  throw new Refusal(
    `there is no data in ${dataDir}: set GUILDHALL_DATA_DIR to the server's, or begin with bin/guildhall serve`,
  )
}

/** Runs `work` on the instance, beside a server that may be running, and closes it again; `makes` it where there is none. */
export function withInstance(
  options: Options,
  work: (opened: Opened, cli: Cli) => Promise<void>,
  { makes = false }: { readonly makes?: boolean } = {},
): Promise<void> {
  return act(options, 'warn', async (cli) => {
    if (!makes) checkData(cli.config)
    const opened = await openInstance(withAddress(cli.config), { log: cli.log, join: true })
    try {
      await work(opened, cli)
    } finally {
      await opened.close()
    }
  })
}

/** The message of an error for people, without the name of the program. */
export function wordsFor(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  const text = error instanceof AggregateError ? error.errors.map(wordsFor).join(', ') : error.message
  return isAway(error) ? `the database cannot be reached: ${text}` : text
}

const nameOf = (command: Command): string =>
  command.parent ? `${nameOf(command.parent)} ${command.name()}` : command.name()

/** Lets help and complaints of `program`, and of all that is added later, read as one voice. */
export function speak(program: Command): void {
  program.exitOverride().configureHelp({
    // One screen shows every command there is, as it is typed.
    visibleCommands: (command) =>
      command.parent
        ? Help.prototype.visibleCommands.call(new Help(), command)
        : command.commands.flatMap((each) => (each.commands.length > 0 ? each.commands : [each])),
    subcommandTerm: (command) =>
      [nameOf(command).replace(/^\S+ /, ''), ...command.registeredArguments.map((a) => `<${a.name()}>`)].join(
        ' ',
      ),
  })
  program.configureOutput({
    outputError: (text, write) => write(text.replace(/^error: /, `${program.name()}: `)),
  })
}

/** A word that only stands before others: `user` in `user create`. */
export const family = (parent: Command, name: string, description: string): Command =>
  parent
    .command(name)
    .description(description)
    .helpCommand(false)
    .showHelpAfterError(`See ${parent.name()} ${name} --help.`)

interface Words {
  readonly parent: Command
  readonly name: string
  readonly description: string
  /** The heading under which the overview shows it. */
  readonly under: string
}

/** A command that takes `--json` like all others. */
export function command({ parent, name, description, under }: Words): Command {
  const made = parent.command(name).description(description).helpGroup(`${under}:`)
  return made.option('--json', 'print the result as JSON').showHelpAfterError(`See ${nameOf(made)} --help.`)
}
