/* The queue of jobs against a real database whose connections break, and workers that die. */
import assert from 'node:assert/strict'
import { setTimeout as sleep } from 'node:timers/promises'
import { after, before, test } from 'node:test'
import { pino } from 'pino'
import { sql } from 'kysely'
import { createClient, type Client } from '../db/client.ts'
import { statement, type Slots } from '../db/statement.ts'
import { openWorld, type World } from '../../test/support/world.ts'
import { rowsOf } from '../../test/support/rows.ts'
import { until } from '../../test/support/program.ts'
import { enqueue, type Job } from './job.ts'
import { startWorker } from './worker.ts'

const log = pino({ level: 'silent' })
let world: World
before(async () => {
  world = await openWorld()
  await world.make.sql('create table deeds (deed text not null)')
})
after(async () => {
  await world.make.sql('drop table deeds')
  await world.close()
})

const act = statement((p: Slots<{ deed: string }>) => sql`insert into deeds values (${p.deed})`)
const deeds = async (): Promise<string[]> =>
  (await rowsOf<{ deed: string }>(world, 'select deed from deeds')).map(({ deed }) => deed).sort()
const waiting = (): Promise<unknown[]> => rowsOf(world, 'select from graphile_worker._private_jobs')

const quick: Job<{ deed: string }> = {
  name: 'quick',
  run: async ({ db }, { deed }) => void (await db.run(act, { deed })),
}

/** Breaks every connection to the database of the world but the one that asks. */
const breakConnections = (client: Client): Promise<unknown> =>
  client.script(
    'select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()',
  )

test('connections that break at any moment leave a queue that works, and no job undone', async () => {
  const { client, instance } = world.opened
  await world.make.sql('delete from deeds')
  const rejections: unknown[] = []
  const heard = (reason: unknown): void => void rejections.push(reason)
  process.on('unhandledRejection', heard)
  const worker = startWorker(client, instance, { jobs: [quick], log })
  const other = createClient(client.pool.options as never, { poolSize: 1 })
  try {
    let wanted = 0
    for (let round = 0; round < 10; round += 1) {
      for (let i = 0; i < 20; i += 1) await enqueue(other, quick, { deed: String((wanted += 1)) })
      await sleep(round * 3)
      await breakConnections(other)
    }
    await until('every job is done', async () => (await waiting().catch(() => [1])).length === 0)
    assert.equal(new Set(await deeds()).size, wanted)
    assert.deepEqual(rejections, [])
  } finally {
    process.off('unhandledRejection', heard)
    await worker.stop()
    await other.close()
  }
})

test('the jobs of a dead worker are taken over, its steps are not repeated, and live workers keep theirs', async () => {
  const { client, instance } = world.opened
  await world.make.sql('delete from deeds')
  let runs = 0
  const stepped: Job<{ deed: string }> = {
    name: 'stepped',
    run: async ({ db }, { deed }, once) => {
      runs += 1
      for (const step of ['first', 'second'])
        await db.transaction(async (tx) => {
          if (await once?.(tx, step)) await tx.run(act, { deed: `${deed} ${step}` })
        })
    },
  }
  let end = (): void => {}
  const long: Job<object> = {
    name: 'long',
    run: async ({ db }) => {
      await db.run(act, { deed: 'long' })
      await new Promise<void>((resolve) => (end = resolve))
    },
  }
  const alive = startWorker(client, instance, { jobs: [long], log, grace: 300 })
  await enqueue(client, long, {})
  await until('the long job runs', async () => (await deeds()).includes('long'))
  await enqueue(client, stepped, { deed: 'stepped' })
  await world.make.sql(`
    update graphile_worker._private_jobs set locked_at = now(), locked_by = 'guildhall-1', attempts = 1
     where locked_at is null;
    insert into job_steps select id, 'first' from graphile_worker._private_jobs where locked_by = 'guildhall-1'`)
  const worker = startWorker(client, instance, { jobs: [stepped, long], log, grace: 300 })
  await until('it is taken over', async () => (await waiting()).length === 1)
  assert.equal(runs, 1)
  assert.deepEqual(await deeds(), ['long', 'stepped second'])
  end()
  await until('the long job is done', async () => (await waiting()).length === 0)
  assert.deepEqual(await deeds(), ['long', 'stepped second'])
  assert.deepEqual(await rowsOf(world, 'select * from job_steps'), [])
  await Promise.all([alive.stop(), worker.stop()])
})

test('slow jobs do not keep quick ones from running', async () => {
  const { client, instance } = world.opened
  await world.make.sql('delete from deeds')
  const ends: (() => void)[] = []
  const slow: Job<object> = {
    name: 'slow',
    slow: true,
    run: () => new Promise<void>((resolve) => void ends.push(resolve)),
  }
  const worker = startWorker(client, instance, { jobs: [slow, quick], log })
  for (let i = 0; i < 3; i += 1) await enqueue(client, slow, {})
  await until('the slots of slow jobs are taken', () => ends.length === 2)
  await enqueue(client, quick, { deed: 'quick' })
  await until('the quick one is done', async () => (await deeds()).length === 1)
  assert.equal(ends.length, 2)
  for (const end of ends) end()
  await until('the third begins', () => ends.length === 3)
  ends[2]?.()
  await until('all are done', async () => (await waiting()).length === 0)
  await worker.stop()
})

test('a job that failed is given back, and runs again when it is due', async () => {
  const { client, instance } = world.opened
  let runs = 0
  const failing: Job<object> = {
    name: 'failing',
    run: async () => {
      runs += 1
      if (runs === 1) throw new Error('not yet')
    },
  }
  const worker = startWorker(client, instance, { jobs: [failing], log })
  await enqueue(client, failing, {})
  const errors = (): Promise<unknown[]> =>
    rowsOf(world, 'select attempts, last_error, locked_by from graphile_worker._private_jobs')
  await until(
    'it failed',
    async () => runs === 1 && (await errors()).some((job) => JSON.stringify(job).includes('not yet')),
  )
  assert.deepEqual(await errors(), [{ attempts: 1, last_error: 'not yet', locked_by: null }])
  await until('it is done', async () => (await waiting()).length === 0)
  assert.equal(runs, 2)
  await worker.stop()
})
