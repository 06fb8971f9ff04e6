import type { Job } from '../jobs/job.ts'

/** Removes blobs that no row names any more. */
export const collectBlobs: Job<object> = {
  name: 'collect_blobs',
  hourly: true,
  run: async ({ blobs }) => void (await blobs.collect()),
}
