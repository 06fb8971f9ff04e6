import { GitError } from '../errors.ts'

/** How many may be inside at once, how many may wait, and for how long (milliseconds). */
export interface LaneLimits {
  width: number
  queue: number
  waitMs: number
}

/** A bounded number of places, handed out in the order of asking. */
export class Lane {
  readonly #limits: LaneLimits
  readonly #waiting = new Set<() => void>()
  #inside = 0

  constructor(limits: LaneLimits) {
    this.#limits = limits
  }

  /**
   * Waits for a place and returns the function that gives it back (calling it twice is harmless).
   * Throws GitError `busy` when the queue is full or the wait too long, `aborted` when `signal` fires first.
   */
  async enter(signal?: AbortSignal): Promise<() => void> {
    if (signal?.aborted === true) throw new GitError('aborted', 'Aborted before git was started')
    if (this.#inside < this.#limits.width) this.#inside += 1
    else await this.#wait(signal)
    let left = false
    return () => {
      if (left) return
      left = true
      this.#leave()
    }
  }

  #wait(signal: AbortSignal | undefined): Promise<void> {
    if (this.#waiting.size >= this.#limits.queue) {
      return Promise.reject(new GitError('busy', 'Too many git commands are waiting'))
    }
    return new Promise((resolve, reject) => {
      const settle = (error?: GitError): void => {
        this.#waiting.delete(grant)
        clearTimeout(clock)
        signal?.removeEventListener('abort', abort)
        if (error === undefined) resolve()
        else reject(error)
      }
      const grant = (): void => settle()
      const abort = (): void => settle(new GitError('aborted', 'Aborted before git was started'))
      const clock = setTimeout(() => {
        settle(new GitError('busy', `No free place for a git command within ${this.#limits.waitMs} ms`))
      }, this.#limits.waitMs)
      signal?.addEventListener('abort', abort, { once: true })
      this.#waiting.add(grant)
    })
  }

  #leave(): void {
    const [next] = this.#waiting
    // The place passes straight to the next in line, so that a newcomer cannot overtake.
    if (next === undefined) this.#inside -= 1
    else next()
  }
}
