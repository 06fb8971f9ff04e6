import type { FastifyBaseLogger } from 'fastify'
import type { Db } from '../db/db.ts'
import { deadWorkers, release, releaseUnheard } from './queue.ts'

// A worker's lease is an advisory lock on the connection with which it listens: PostgreSQL frees it when the process
// ends, however it ends.

/** Milliseconds between two looks, as a share of the grace. */
const ROUNDS = 3

interface Watching {
  readonly worker: string
  /** Milliseconds without a lease after which a worker is dead: one whose connection broke takes its lease again. */
  readonly grace: number
  readonly log: FastifyBaseLogger
  /** The jobs that run here; undefined while one is being taken. */
  readonly running: () => readonly string[] | undefined
  /** Called when jobs were given back. */
  readonly released: () => void
}

/** Gives the jobs of dead workers back to the queue, once each, until stopped. Never throws. */
export function watchLeases(db: Db, watching: Watching): { stop(): void } {
  const { worker, grace, log, running, released } = watching
  const missing = new Map<string, number>()
  const round = async (): Promise<void> => {
    const rows = await db.rows(deadWorkers, {})
    const dead = new Set(rows.flatMap((row) => (row.worker === worker ? [] : [row.worker])))
    for (const name of missing.keys()) if (!dead.has(name)) missing.delete(name)
    const now = performance.now()
    for (const name of dead) if (!missing.has(name)) missing.set(name, now)
    const over = [...missing].flatMap(([name, since]) => (now - since >= grace ? [name] : []))
    const here = running()
    const count =
      (over.length > 0 ? await db.run(release, { workers: over }) : 0) +
      (here === undefined ? 0 : await db.run(releaseUnheard, { worker, running: here }))
    if (count === 0) return
    log.warn({ jobs: count, workers: over }, 'jobs of a dead process are taken over')
    released()
  }
  const clock = setInterval(
    () =>
      void round().catch((error: unknown) => {
        // Others may have lost their leases with the database: they get the grace once more.
        missing.clear()
        log.debug({ err: error }, 'the leases of jobs could not be read')
      }),
    grace / ROUNDS,
  )
  clock.unref()
  return { stop: () => clearInterval(clock) }
}
