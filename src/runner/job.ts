import type { Outcome } from './coordinator.ts'
import { Stops } from './failure.ts'
import { JobRun } from './job_run.ts'
import type { Surroundings } from './job_shell.ts'
import { JobLog } from './log.ts'
import type { JobPayload } from './payload.ts'
import { openWorkplace } from './workplace.ts'

/** Runs a job to its end and tells the server how it went. Throws where the server could not be told. */
export async function runJob(job: JobPayload, around: Surroundings): Promise<void> {
  const stops = new Stops()
  const log = new JobLog(around.coordinator, job, (word) => {
    if (word !== 'running') stops.stop(word)
  })
  const timeout = setTimeout(() => stops.stop('timeout'), job.runner_info.timeout * 1_000)
  const shut = (): void => stops.stop('shutdown')
  around.shutdown.addEventListener('abort', shut, { once: true })
  let outcome: Outcome
  try {
    const place = await openWorkplace(around.builds, job.id)
    try {
      outcome = await new JobRun({ job, around, stops, log, place }).outcome()
    } finally {
      await place.clear().catch((error: unknown) => log.line(`WARNING: ${String(error)}`))
    }
  } catch (error) {
    log.line(`\u001B[31;1mERROR: Job failed (system failure): ${String(error)}`)
    outcome = { state: 'failed', failure_reason: 'runner_system_failure' }
  } finally {
    clearTimeout(timeout)
    around.shutdown.removeEventListener('abort', shut)
  }
  await (stops.first === 'gone' ? log.abandon() : log.finish(outcome))
}
