import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Db } from '../../db/db.ts'
import { createBatches } from './batches.ts'

const db = (): Db => ({}) as Db

/** Batches of up to three numbers, and up to 100 together; `fault` says why one cannot be stored. */
function collect(fault: (items: readonly number[]) => Error | undefined = () => undefined): {
  readonly take: (db: Db, item: number) => Promise<string>
  readonly batches: number[][]
} {
  const batches: number[][] = []
  const take = createBatches<number, string>(
    { items: 3, length: 100, lengthOf: (item) => item },
    async (_db, items) => {
      batches.push([...items])
      await new Promise(setImmediate)
      const error = fault(items)
      if (error !== undefined) throw error
      return items.map((item) => `stored ${item}`)
    },
  )
  return { take, batches }
}

test('items that arrive while others are stored are stored together, and each gets its own result', async () => {
  const { take, batches } = collect()
  const one = db()
  const results = await Promise.all([1, 2, 3, 4, 5, 6].map((item) => take(one, item)))
  assert.deepEqual(results, ['stored 1', 'stored 2', 'stored 3', 'stored 4', 'stored 5', 'stored 6'])
  assert.deepEqual(batches, [[1], [2, 3, 4], [5, 6]])
  assert.equal(await take(one, 7), 'stored 7')
})

test('a batch ends before the item that would make it too long', async () => {
  const { take, batches } = collect()
  const one = db()
  await Promise.all([1, 60, 40, 1, 500, 99, 2].map((item) => take(one, item)))
  assert.deepEqual(batches, [[1], [60, 40], [1], [500], [99], [2]])
})

test('databases have queues of their own', async () => {
  const { take, batches } = collect()
  await Promise.all([take(db(), 1), take(db(), 2)])
  assert.deepEqual(batches, [[1], [2]])
})

test('an item that cannot be stored fails alone', async () => {
  const { take, batches } = collect((items) => (items.includes(3) ? new Error('bad item') : undefined))
  const one = db()
  const results = await Promise.allSettled([1, 2, 3, 4].map((item) => take(one, item)))
  assert.deepEqual(
    results.map(({ status }) => status),
    ['fulfilled', 'fulfilled', 'rejected', 'fulfilled'],
  )
  assert.deepEqual(batches, [[1], [2, 3, 4], [2], [3], [4]])
})

test('a database that is away fails a whole batch at once', async () => {
  const away = Object.assign(new Error('gone'), { code: 'ECONNRESET' })
  const { take, batches } = collect((items) => (items.includes(2) ? away : undefined))
  const one = db()
  const results = await Promise.allSettled([1, 2, 3, 4].map((item) => take(one, item)))
  assert.deepEqual(
    results.map(({ status }) => status),
    ['fulfilled', 'rejected', 'rejected', 'rejected'],
  )
  assert.deepEqual(batches, [[1], [2, 3, 4]])
})
