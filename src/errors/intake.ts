import type { Db } from '../db/client.ts'
import { ensurePartition, forgetPartitions } from './partitions.ts'
import { insertEvents, type Collected } from './store.ts'

/** Events that are stored by one statement. */
const BATCH = 100

interface Waiting {
  readonly event: Collected
  readonly stored: () => void
  readonly failed: (error: unknown) => void
}

const queues = new WeakMap<Db, Waiting[]>()

/**
 * Stores an event; it is durable when this resolves. Events that arrive while others are being stored are stored
 * together after them, by one connection, so that a flood leaves the other connections alone.
 */
export function takeEvent(db: Db, event: Collected): Promise<void> {
  return new Promise((stored, failed) => {
    const one = { event, stored, failed }
    const queue = queues.get(db)
    if (queue !== undefined) return void queue.push(one)
    queues.set(db, [one])
    void drain(db)
  })
}

async function drain(db: Db): Promise<void> {
  const queue = queues.get(db) ?? []
  while (queue.length > 0) await storeBatch(db, queue.splice(0, BATCH))
  queues.delete(db)
}

/** An event that cannot be stored, such as one of a project that is gone, does not fail the others of its batch. */
async function storeBatch(db: Db, batch: readonly Waiting[]): Promise<void> {
  try {
    const day = await ensurePartition(db, new Date())
    await insertEvents(
      db,
      batch.map(({ event }) => event),
      day,
    )
    for (const { stored } of batch) stored()
  } catch (error) {
    forgetPartitions(db)
    const [only] = batch
    if (batch.length === 1) only?.failed(error)
    else for (const one of batch) await storeBatch(db, [one])
  }
}
