import { createBatches } from '../core/values/batches.ts'
import { ensurePartition, forgetPartitions } from './partitions.ts'
import { insertEvents, type Collected } from './store.ts'

/** Events that are stored by one statement. */
const BATCH = { items: 100, length: 4 * 1024 * 1024, lengthOf: ({ payload }: Collected) => payload.length }

/** Stores an event; it is durable when this resolves. */
export const takeEvent = createBatches<Collected, void>(BATCH, async (db, events) => {
  try {
    await insertEvents(db, events, await ensurePartition(db, new Date()))
    return []
  } catch (error) {
    forgetPartitions(db)
    throw error
  }
})
