import { setTimeout as sleep } from 'node:timers/promises'
import type { FastifyBaseLogger } from 'fastify'
import type { Db } from '../db/db.ts'
import type { Instance } from '../instance.ts'
import type { AnyJob, Once } from './job.ts'
import { fail, finish, noteStep, type Taken } from './queue.ts'

/** Milliseconds until what the database did not take is tried again. */
const RETRY = 500

interface Running {
  readonly worker: string
  readonly jobs: readonly AnyJob[]
  readonly log: FastifyBaseLogger
  /** Ends the tries to write how a job ended. */
  readonly signal: AbortSignal
}

/** Returns what runs one job that the worker has locked, and finishes it or gives it back. Never rejects. */
export function createRunner(
  db: Db,
  instance: Instance,
  { worker, jobs, log, signal }: Running,
): (job: Taken) => Promise<void> {
  const byName = new Map(jobs.map((job) => [job.name, job]))
  /** Tries until the database takes it: a job is not run again because its end could not be written. */
  const insist = async (write: () => Promise<unknown>): Promise<void> => {
    for (;;)
      try {
        await write()
        return
      } catch (error) {
        log.warn({ err: error }, 'the end of a job could not be written')
        if (signal.aborted) return
        await sleep(RETRY)
      }
  }
  return async ({ id, name, payload }) => {
    const once: Once = async (tx, step) => (await tx.run(noteStep, { id, step })) > 0
    try {
      await byName.get(name)?.run(instance, payload as never, once)
      log.info({ job: name }, 'a job is done')
    } catch (error) {
      log.warn({ job: name, err: error }, 'a job failed and will be tried again')
      const text = error instanceof Error ? error.message : String(error)
      return insist(() => db.run(fail, { worker, id, error: text }))
    }
    await insist(() => db.run(finish, { worker, id }))
  }
}
