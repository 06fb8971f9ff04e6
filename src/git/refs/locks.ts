import { GitError } from '../errors.ts'

type Grant = () => void

/** Locks by name, each handed on in the order of asking. They hold within this process. */
export class Locks {
  readonly #waitMs: number
  readonly #queues = new Map<string, Set<Grant>>()

  constructor(waitMs: number) {
    this.#waitMs = waitMs
  }

  /** How many names are locked. */
  get held(): number {
    return this.#queues.size
  }

  /**
   * Runs `work` while it holds all of `names`, which are taken in their own order so that no two callers wait for each
   * other. Throws GitError `busy` when one did not come free in time, and what `work` throws.
   */
  async hold<T>(names: readonly string[], work: () => Promise<T>): Promise<T> {
    const taken: string[] = []
    try {
      for (const name of [...new Set(names)].toSorted()) {
        await this.#take(name)
        taken.push(name)
      }
      return await work()
    } finally {
      for (const name of taken) this.#free(name)
    }
  }

  async #take(name: string): Promise<void> {
    const queue = this.#queues.get(name)
    if (queue === undefined) {
      this.#queues.set(name, new Set())
      return
    }
    await new Promise<void>((resolve, reject) => {
      const grant = (): void => {
        clearTimeout(clock)
        queue.delete(grant)
        resolve()
      }
      const clock = setTimeout(() => {
        queue.delete(grant)
        reject(new GitError('busy', `A ref was written by others for ${this.#waitMs} ms`))
      }, this.#waitMs)
      queue.add(grant)
    })
  }

  #free(name: string): void {
    const queue = this.#queues.get(name)
    const [next] = queue ?? []
    // The lock passes straight to the next in line, so that a newcomer cannot overtake.
    if (next === undefined) this.#queues.delete(name)
    else next()
  }
}
