import type { Command } from 'commander'
import { pino, type Logger } from 'pino'
import { openInstance, type Opened } from '../app.ts'
import { readConfig, type Config } from '../config.ts'

/** A refusal to tell a person on one line; the exit status is 1. */
export class Refusal extends Error {}

export interface Cli {
  readonly config: Config
  readonly log: Logger
  /** Prints a result: `text` for people, `value` as one line of JSON with `--json`. */
  readonly say: (value: object, text: string) => void
  /** Shows how far a long work has come, on standard error, and nothing with `--json`. */
  readonly progress: (text: string) => void
}

type Options = Readonly<Record<string, unknown>>

/**
 * Logs go to standard error, one JSON line each, so that results and logs never mix. Lines are written many at a time,
 * a quarter of a second late at most, and all of them before the process ends.
 */
const logger = (level: string): Logger =>
  pino({ level, base: null }, pino.destination({ fd: 2, sync: false, minLength: 4_096, periodicFlush: 250 }))

/** The environment of one command, from the process's own and the command's options. */
export function openCli(options: Options, level?: string): Cli {
  const config = readConfig()
  const json = options['json'] === true
  return {
    config,
    log: logger(level ?? config.logLevel),
    say: (value, text) => process.stdout.write(`${json ? JSON.stringify(value) : text}\n`),
    progress: (text) => {
      if (json) return
      process.stderr.write(process.stderr.isTTY ? `\r\u001B[K${text}` : `${text}\n`)
    },
  }
}

/** Runs `work` on the instance, beside a server that may be running, and closes it again. */
export async function withInstance(
  options: Options,
  work: (opened: Opened, cli: Cli) => Promise<void>,
): Promise<void> {
  const cli = openCli(options, process.env['LOG_LEVEL'] ? undefined : 'warn')
  const opened = await openInstance(cli.config, { log: cli.log, join: true })
  try {
    await work(opened, cli)
  } finally {
    await opened.close()
  }
}

/** A command that takes `--json` like all others. */
export const command = (parent: Command, name: string, description: string): Command =>
  parent.command(name).description(description).option('--json', 'print the result as JSON')
