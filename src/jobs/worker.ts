import { randomInt } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import type { FastifyBaseLogger } from 'fastify'
import type { Client } from '../db/client.ts'
import type { Instance } from '../instance.ts'
import type { AnyJob } from './job.ts'
import { watchLeases } from './leases.ts'
import { ADDED, LEASES, addHourly, take, workerName, type Taken } from './queue.ts'
import { createRunner } from './runner.ts'

/** Jobs that run at once in a process: quick ones, slow ones such as imports, and those that wait for other servers. */
const SLOTS = { quick: 2, slow: 2, outbound: 16 } as const
type Lane = keyof typeof SLOTS
/** Milliseconds between two looks for jobs that became due without being added. */
const POLL = 2_000
const MINUTE = 60_000
/** Milliseconds that running jobs get to end when the worker stops. */
const PATIENCE = 5_000

export interface Worker {
  /** Takes no more jobs and lets those that run end, for five seconds; what runs longer is taken over by others. */
  stop(): Promise<void>
}

export interface WorkerOptions {
  readonly jobs: readonly AnyJob[]
  readonly log: FastifyBaseLogger
  /** Milliseconds that a worker must have been without its lease before its jobs are taken over. */
  readonly grace?: number
}

/** Runs jobs until stopped; several processes share one queue. A database that is away is waited for. */
export function startWorker(client: Client, instance: Instance, options: WorkerOptions): Worker {
  const { jobs, log, grace = 15_000 } = options
  const lease = randomInt(1, 2 ** 31)
  const worker = workerName(lease)
  const stopping = new AbortController()
  const run = createRunner(client, instance, { worker, jobs, log, signal: stopping.signal })
  const loop = createLoop(run, {
    jobs,
    signal: stopping.signal,
    next: async (names) => (await client.rows(take, { worker, names }))[0],
    failed: (error) => log.debug({ err: error }, 'the queue could not be read'),
  })
  const hourly = jobs.flatMap((job) => (job.hourly ? [job.name] : []))
  const addDue = (): void =>
    void client
      .run(addHourly, { names: hourly })
      .catch((error: unknown) => log.debug({ err: error }, 'hourly jobs could not be added'))
  const listener = client.listen(ADDED, loop.wake, [LEASES, lease])
  const leases = watchLeases(client, { worker, grace, log, running: loop.running, released: loop.wake })
  const clocks = [setInterval(loop.wake, POLL), setInterval(addDue, MINUTE)]
  for (const clock of clocks) clock.unref()
  addDue()
  loop.wake()
  return {
    stop: async () => {
      stopping.abort()
      for (const clock of clocks) clearInterval(clock)
      leases.stop()
      const late = new AbortController()
      await Promise.race([loop.ended(), sleep(PATIENCE, undefined, { signal: late.signal }).catch(() => {})])
      late.abort()
      await listener.end()
    },
  }
}

interface Looping {
  readonly jobs: readonly AnyJob[]
  readonly signal: AbortSignal
  /** Locks the next job of one of these names. */
  readonly next: (names: readonly string[]) => Promise<Taken | undefined>
  readonly failed: (error: unknown) => void
}

interface Loop {
  /** Looks for jobs now, or once more when it is looking already. A look that fails is made up for by the next. */
  readonly wake: () => void
  /** The ids of the jobs that run; undefined while one is being taken. */
  readonly running: () => readonly string[] | undefined
  /** Resolves when nothing runs any more. */
  readonly ended: () => Promise<unknown>
}

/** Takes jobs as long as a slot of their lane is free. */
function createLoop(run: (job: Taken) => Promise<void>, { jobs, signal, next, failed }: Looping): Loop {
  const lanes = new Map(
    jobs.map((job): [string, Lane] => [job.name, job.outbound ? 'outbound' : job.slow ? 'slow' : 'quick']),
  )
  const running = new Map<string, { readonly lane: Lane | undefined; readonly ended: Promise<void> }>()
  const isFree = (lane: Lane): boolean =>
    [...running.values()].filter((job) => job.lane === lane).length < SLOTS[lane]
  const names = (): string[] =>
    signal.aborted ? [] : [...lanes].flatMap(([name, lane]) => (isFree(lane) ? [name] : []))
  let looking: Promise<void> | undefined
  let again = false
  const look = async (): Promise<void> => {
    again = false
    for (let wanted = names(); wanted.length > 0; wanted = names()) {
      const job = await next(wanted)
      if (job === undefined) return
      const ended = run(job).finally(() => {
        running.delete(job.id)
        wake()
      })
      running.set(job.id, { lane: lanes.get(job.name), ended })
    }
  }
  const wake = (): void => {
    again = true
    looking ??= look()
      .catch(failed)
      .finally(() => {
        looking = undefined
        if (again && !signal.aborted) wake()
      })
  }
  return {
    wake,
    running: () => (looking === undefined ? [...running.keys()] : undefined),
    ended: async () => {
      await looking
      return Promise.allSettled([...running.values()].map((job) => job.ended))
    },
  }
}
