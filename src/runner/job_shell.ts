import { join } from 'node:path'
import type { Coordinator } from './coordinator.ts'
import { JobFailure, type Stops } from './failure.ts'
import type { JobLog } from './log.ts'
import type { JobPayload } from './payload.ts'
import { run } from './processes.ts'
import { scriptOf } from './script.ts'
import { getSources } from './sources.ts'
import { environmentOf } from './variables.ts'
import { writePrivate, type Workplace } from './workplace.ts'

export interface Surroundings {
  readonly coordinator: Coordinator
  readonly builds: string
  readonly caches: string
  /** `PATH` and what else programs need; nothing of the runner's own. */
  readonly env: Readonly<Record<string, string>>
  readonly version: string
  /** The place among the jobs that run at once. */
  readonly slot: number
  /** Stops the job at once. */
  readonly shutdown: AbortSignal
}

/** A job under way. */
export interface Parts {
  readonly job: JobPayload
  readonly around: Surroundings
  readonly stops: Stops
  readonly log: JobLog
  readonly place: Workplace
}

/** Runs git and scripts for a job, with its environment, into its log. */
export class JobShell {
  readonly #parts: Parts
  readonly #env: Readonly<Record<string, string>>
  /** The job's variables, expanded. */
  readonly values: Map<string, string>

  constructor(parts: Parts) {
    const { job, around, place } = parts
    this.#parts = parts
    this.#env = { ...around.env, HOME: place.root, GIT_TERMINAL_PROMPT: '0', GIT_CONFIG_NOSYSTEM: '1' }
    this.values = environmentOf([
      ...[
        ['CI', 'true'],
        ['CI_SHARED_ENVIRONMENT', 'true'],
        ['CI_BUILDS_DIR', around.builds],
        ['CI_PROJECT_DIR', place.project],
        ['CI_CONCURRENT_ID', String(around.slot)],
        ['CI_CONCURRENT_PROJECT_ID', String(around.slot)],
        ['CI_RUNNER_VERSION', around.version],
        ['CI_RUNNER_EXECUTABLE_ARCH', `${process.platform}/${process.arch}`],
      ].map(([key = '', value = '']) => ({ key, value })),
      ...job.variables,
    ])
    // These are the runner's to say, whatever the job is told.
    this.values.set('CI_PROJECT_DIR', place.project)
  }

  /** Fetches and checks out the job's commit. */
  async sources(): Promise<void> {
    const { job, place, log, stops } = this.#parts
    const write = (chunk: Buffer | string): void => log.write(chunk)
    const git = { env: this.#env, write, signal: stops.scripts }
    const status = await getSources(job, place.project, this.values, git)
    if (status !== 0) throw new JobFailure('runner_system_failure', `git ended with status ${status}`)
  }

  /** Paths that git does not know and does not ignore. */
  async untracked(): Promise<string[]> {
    const chunks: Buffer[] = []
    await run({
      file: 'git',
      args: ['ls-files', '--others', '-z'],
      cwd: this.#parts.place.project,
      env: this.#env,
      write: (chunk) => chunks.push(chunk),
      signal: this.#parts.stops.all,
    })
    return Buffer.concat(chunks).toString().split('\0').filter(Boolean)
  }

  /** Runs commands in one shell. Throws JobFailure where one of them fails. */
  async run(name: string, commands: readonly string[], signal?: AbortSignal): Promise<void> {
    const { place, log, stops } = this.#parts
    const script = scriptOf(commands, this.values, place.project)
    const path = await writePrivate(join(place.temporary, `.script-${name}`), script)
    const status = await run({
      file: 'bash',
      args: ['--noprofile', '--norc', path],
      cwd: place.project,
      env: this.#env,
      write: (chunk) => log.write(chunk),
      signal: signal ?? stops.scripts,
    })
    if (status !== 0) throw new JobFailure('script_failure', `exit status ${status}`, status)
  }

  /** Does a part of the job under a title of its own in the log. */
  async section(name: string, title: string, work: () => Promise<void>): Promise<void> {
    const { job, log } = this.#parts
    const mark = (edge: 'start' | 'end'): string =>
      job.features?.trace_sections === true
        ? `section_${edge}:${Math.floor(Date.now() / 1_000)}:${name}\r\u001B[0K`
        : ''
    log.write(mark('start'))
    log.line(`\u001B[36;1m${title}`)
    try {
      await work()
    } finally {
      log.write(mark('end'))
    }
  }
}
