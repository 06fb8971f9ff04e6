import type { Db } from '../../db/db.ts'
import { isAway, isDiskFull, isHanging } from '../../db/errors.ts'

interface Waiting<Item, Result> {
  readonly item: Item
  readonly stored: (result: Result) => void
  readonly failed: (error: unknown) => void
}

/** Whether storing the items one by one would fail too, and each only after its time-out. */
const isOfDatabase = (error: unknown): boolean => isAway(error) || isHanging(error) || isDiskFull(error)

/** Limits of one batch. An item that is longer than `length` is stored alone. */
interface Limits<Item> {
  readonly items: number
  /** Characters of the items together, so that a batch of large ones neither takes much memory nor blocks the event loop. */
  readonly length: number
  readonly lengthOf: (item: Item) => number
}

/**
 * Makes a function that stores an item and resolves when it is durable. Items that arrive while others are being stored
 * are stored together after them: by one connection and one commit, so that a flood leaves the other connections alone.
 * `store` gives the results in the order of the items. Where it fails for several, each is stored alone, so that an item
 * that cannot be stored fails alone; where the database is at fault, all fail at once. Callers bound how many wait.
 */
export function createBatches<Item, Result>(
  limits: Limits<Item>,
  store: (db: Db, items: readonly Item[]) => Promise<readonly Result[]>,
): (db: Db, item: Item) => Promise<Result> {
  const queues = new WeakMap<Db, Waiting<Item, Result>[]>()

  /** The number of items at the head of a queue that are stored together. */
  function fitting(queue: readonly Waiting<Item, Result>[]): number {
    let length = 0
    const end = queue.findIndex(({ item }, i) => (length += limits.lengthOf(item)) > limits.length && i > 0)
    return Math.min(end === -1 ? queue.length : end, limits.items)
  }

  async function storeBatch(db: Db, batch: readonly Waiting<Item, Result>[]): Promise<void> {
    try {
      const results = await store(
        db,
        batch.map(({ item }) => item),
      )
      for (const [i, { stored }] of batch.entries()) stored(results[i] as Result)
    } catch (error) {
      if (batch.length === 1 || isOfDatabase(error)) for (const { failed } of batch) failed(error)
      else for (const one of batch) await storeBatch(db, [one])
    }
  }

  async function drain(db: Db, queue: Waiting<Item, Result>[]): Promise<void> {
    while (queue.length > 0) await storeBatch(db, queue.splice(0, fitting(queue)))
    queues.delete(db)
  }

  return (db, item) =>
    new Promise((stored, failed) => {
      const one = { item, stored, failed }
      const queue = queues.get(db)
      if (queue !== undefined) return void queue.push(one)
      const fresh = [one]
      queues.set(db, fresh)
      void drain(db, fresh)
    })
}
