import { setTimeout as sleep } from 'node:timers/promises'
import { Refused, type Coordinator } from './coordinator.ts'
import { runJob } from './job.ts'
import type { Surroundings } from './job_shell.ts'

/** Milliseconds between two requests, where the server does not let them wait. */
const INTERVAL = 3_000
const LONGEST_PAUSE = 30_000

export interface RunnerOptions extends Omit<Surroundings, 'slot' | 'shutdown'> {
  readonly coordinator: Coordinator
  /** Jobs that run at once. */
  readonly concurrency: number
  /** Jobs after which the runner ends; undefined for never. */
  readonly jobs?: number | undefined
  /** Takes no more jobs, and ends when those that run are over. */
  readonly stop: AbortSignal
  /** Stops the jobs that run, too. */
  readonly shutdown: AbortSignal
  readonly say: (detail: object, text: string) => void
}

/** Takes jobs and runs them until it is stopped. Throws Refused where the server does not know the runner's token. */
export async function runRunner(options: RunnerOptions): Promise<void> {
  const { coordinator, concurrency, jobs = Infinity, stop, say } = options
  const running = new Map<number, Promise<void>>()
  const freeSlot = (): number => {
    let slot = 0
    while (running.has(slot)) slot += 1
    return slot
  }
  let pause = INTERVAL
  for (let taken = 0; taken < jobs && !stop.aborted;) {
    if (running.size >= concurrency) {
      const waiting = new AbortController()
      await Promise.race([...running.values(), aborted(stop, waiting.signal)])
      waiting.abort()
      continue
    }
    const before = Date.now()
    try {
      const job = await coordinator.request(stop)
      pause = INTERVAL
      if (job !== undefined) {
        taken += 1
        const slot = freeSlot()
        say({ job: job.id, name: job.job_info.name }, 'a job was taken')
        const work = runJob(job, { ...options, slot })
          .then(() => say({ job: job.id }, 'the job is over'))
          .catch((error: unknown) => say({ job: job.id, err: error }, 'the server was not told of the end'))
          .finally(() => running.delete(slot))
        running.set(slot, work)
        continue
      }
    } catch (error) {
      if (stop.aborted) break
      if (error instanceof Refused && error.status === 403) {
        await Promise.all(running.values())
        throw error
      }
      say({ err: error }, 'the server gave no answer')
      pause = Math.min(pause * 1.5, LONGEST_PAUSE)
    }
    // A server that lets requests wait is asked again at once.
    const rest = Date.now() - before > 1_000 ? 0 : pause * (0.8 + Math.random() * 0.4)
    await sleep(rest, undefined, { signal: stop }).catch(() => {})
  }
  await Promise.all(running.values())
}

/** Resolves when `signal` aborts; the listener goes when `waiting` ends. */
const aborted = (signal: AbortSignal, waiting: AbortSignal): Promise<void> =>
  new Promise((resolve) => {
    if (signal.aborted) resolve()
    signal.addEventListener('abort', () => resolve(), { once: true, signal: waiting })
  })
