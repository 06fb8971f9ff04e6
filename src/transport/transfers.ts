import { GitRefusal } from '../access/git_access.ts'
import { isGitError } from '../git/errors.ts'
import { Lane } from '../git/processes/lane.ts'

/** How many transfers run at once and wait: over all, and of one caller. */
export interface TransferLimits {
  readonly width: number
  readonly perCaller: number
  /** Waiting beside those that run. */
  readonly queue: number
  readonly waitMs: number
}

const LIMITS: TransferLimits = { width: 16, perCaller: 8, queue: 200, waitMs: 20_000 }
const RETRY_SECONDS = 5

/** Bounds clones, fetches and pushes: each holds a process, and that of a big repository a good part of the machine. */
export class Transfers {
  readonly #limits: TransferLimits
  readonly #lane: Lane
  readonly #callers = new Map<string, number>()

  constructor(limits: Partial<TransferLimits> = {}) {
    this.#limits = { ...LIMITS, ...limits }
    this.#lane = new Lane(this.#limits)
  }

  /** Waits for a place and returns what gives it back. Throws GitRefusal 429 for one caller's too many, 503 for all's. */
  async enter(caller: string, signal: AbortSignal): Promise<() => void> {
    const held = this.#callers.get(caller) ?? 0
    if (held >= this.#limits.perCaller)
      throw refusal(429, `You have ${held} transfers under way. Try again when one of them has ended.`)
    this.#callers.set(caller, held + 1)
    const leave = await this.#lane.enter(signal).catch((error: unknown) => {
      this.#forget(caller)
      throw isGitError(error, 'busy')
        ? refusal(503, 'Too many transfers are under way. Try again in a moment.')
        : error
    })
    let left = false
    return () => {
      if (left) return
      left = true
      this.#forget(caller)
      leave()
    }
  }

  #forget(caller: string): void {
    const left = (this.#callers.get(caller) ?? 1) - 1
    if (left > 0) this.#callers.set(caller, left)
    else this.#callers.delete(caller)
  }
}

const refusal = (status: number, text: string): GitRefusal =>
  new GitRefusal(status, text, { 'retry-after': String(RETRY_SECONDS) })
