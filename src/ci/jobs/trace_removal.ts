import { refuseDuringBackup } from '../../db/backup_lock.ts'
import type { Job } from '../../jobs/job.ts'

/** Removes the logs of jobs that were erased or deleted: after the transaction that decides it. */
export const removeTraces: Job<{ readonly job_ids: readonly number[] }> = {
  name: 'remove_traces',
  run: async ({ db, traces }, { job_ids }) => {
    await refuseDuringBackup(db)
    for (const id of job_ids) await traces.remove(id)
  },
}
