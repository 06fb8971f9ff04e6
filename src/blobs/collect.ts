import { refuseDuringBackup } from '../db/backup_lock.ts'
import type { Job } from '../jobs/job.ts'

/** Removes blobs that no row names any more. */
export const collectBlobs: Job<object> = {
  name: 'collect_blobs',
  hourly: true,
  run: async ({ db, blobs }) => {
    await refuseDuringBackup(db)
    await blobs.collect()
  },
}
