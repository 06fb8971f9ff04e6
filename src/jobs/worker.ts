import { Logger, run, runMigrations, type Task } from 'graphile-worker'
import type { FastifyBaseLogger } from 'fastify'
import type { Client } from '../db/client.ts'
import type { Instance } from '../instance.ts'
import type { AnyJob } from './job.ts'

const quiet = new Logger(() => () => {})

/** Makes or upgrades the queue's tables. */
export const migrateQueue = (db: Client): Promise<void> => runMigrations({ pgPool: db.pool, logger: quiet })

export interface Worker {
  /** Lets running jobs end and takes no more. */
  stop(): Promise<void>
}

/** Runs jobs of this process until stopped; several processes share one queue. */
export async function startWorker(
  db: Client,
  instance: Instance,
  jobs: readonly AnyJob[],
  log: FastifyBaseLogger,
): Promise<Worker> {
  const task =
    (job: AnyJob): Task =>
    async (payload) => {
      try {
        await job.run(instance, payload as never)
        log.info({ job: job.name }, 'a job is done')
      } catch (error) {
        log.warn({ job: job.name, err: error }, 'a job failed and will be tried again')
        throw error
      }
    }
  const runner = await run({
    pgPool: db.pool,
    logger: quiet,
    concurrency: 2,
    noHandleSignals: true,
    // A minute past, so that a new day has begun in the database too; an hour that was slept through is made up for.
    crontab: jobs
      .filter((job) => job.hourly)
      .map((job) => `1 * * * * ${job.name} ?fill=1h&max=12`)
      .join('\n'),
    taskList: Object.fromEntries(jobs.map((job) => [job.name, task(job)])),
  })
  return { stop: () => runner.stop().catch(() => {}) }
}
