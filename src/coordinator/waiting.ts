import { randomBytes } from 'node:crypto'

/** Requests of runners that wait for jobs. */
export interface Waiting {
  /** A word for all that was announced so far: a request that brings it back has missed nothing. */
  readonly tick: () => string
  /** Resolves at the next announcement, after `milliseconds`, or when the runner goes away. */
  readonly next: (milliseconds: number, gone: AbortSignal) => Promise<void>
  /** Tells that a job may have become pending. */
  readonly announce: () => void
}

export function createWaiting(): Waiting {
  const instance = randomBytes(6).toString('hex')
  const waiters = new Set<() => void>()
  let count = 0
  return {
    tick: () => `${instance}.${count}`,
    next: (milliseconds, gone) =>
      new Promise((resolve) => {
        const end = (): void => {
          clearTimeout(clock)
          gone.removeEventListener('abort', end)
          waiters.delete(end)
          resolve()
        }
        const clock = setTimeout(end, milliseconds)
        gone.addEventListener('abort', end)
        waiters.add(end)
        if (gone.aborted) end()
      }),
    announce: () => {
      count += 1
      for (const wake of waiters) wake()
    },
  }
}
