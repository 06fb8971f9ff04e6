/** Why a job did not succeed: a published reason, and what its log says. */
export class JobFailure extends Error {
  readonly reason: string
  readonly exitCode: number | undefined
  constructor(reason: string, text: string, exitCode?: number) {
    super(text)
    this.reason = reason
    this.exitCode = exitCode
  }
}

/** Why a job is stopped before its end. `gone`: the server wants nothing more of it. */
export type Stop = 'timeout' | 'canceling' | 'gone' | 'shutdown'

/** Signals that stop a job, in two steps: its scripts, and then also the steps after them. */
export class Stops {
  readonly #scripts = new AbortController()
  readonly #all = new AbortController()
  #first: Stop | undefined

  get scripts(): AbortSignal {
    return this.#scripts.signal
  }
  get all(): AbortSignal {
    return this.#all.signal
  }
  /** The first reason to stop. */
  get first(): Stop | undefined {
    return this.#first
  }

  stop(why: Stop): void {
    this.#first ??= why
    this.#scripts.abort()
    if (why === 'gone' || why === 'shutdown') this.#all.abort()
  }
}

/** The failure of a job that is stopped; `seconds` is its timeout. */
export function stopped(why: Stop, seconds: number): JobFailure {
  if (why === 'timeout')
    return new JobFailure('job_execution_timeout', `execution took longer than ${seconds} seconds`)
  if (why === 'shutdown') return new JobFailure('runner_system_failure', 'the runner was stopped')
  return new JobFailure('script_failure', 'canceled')
}
