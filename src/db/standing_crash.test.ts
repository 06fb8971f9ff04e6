import assert from 'node:assert/strict'
import { join } from 'node:path'
import { test } from 'node:test'
import { sql } from 'kysely'
import { makeDirectory, serverPid, start } from '../../test/support/embedded_fixtures.ts'
import { createClient } from './client.ts'
import { paged, pageStatements } from './pages.ts'

interface Values {
  readonly limit: number
  readonly offset: number
}
const list = pageStatements<object, Values, { id: number }>((p) =>
  paged(sql`select id from things order by id limit ${p.limit} offset ${p.offset}`, sql`select from things`),
)({})

void test('a total does not outlive a crash of the database, which gives the numbers of lost transactions out again', async (t) => {
  const dataDir = join(makeDirectory(t), 'data')
  const server = await start(t, dataDir)
  const client = createClient(server.connection)
  t.after(() => client.close())
  const total = async (): Promise<number | undefined> =>
    (await client.page(list, { limit: 20, offset: 0 })).total
  const snapshot = async (): Promise<unknown> =>
    (await client.pool.query<{ it: string }>('select pg_current_snapshot()::text as it')).rows[0]?.it
  await client.script(`
    create function today() returns date language sql stable return (now() at time zone 'utc')::date;
    create table things (id int primary key); insert into things select generate_series(1, 5000)`)
  await client.pool.query('alter system set autovacuum = off')
  await client.pool.query('select pg_reload_conf()')
  await client.script('checkpoint')
  // What is refused uses a number up, and need not be on the disk.
  await assert.rejects(client.script('insert into things values (6000), (1)'))
  assert.deepEqual([await total(), await total(), await total()], [5_000, 5_000, 5_000])
  const before = await snapshot()

  process.kill(serverPid(dataDir), 'SIGQUIT')
  await server.exited
  await server.stop()
  client.moveTo((await start(t, dataDir)).connection)
  await client.script('select 1').catch(() => undefined)
  await client.script('insert into things values (7000)')
  assert.equal(await snapshot(), before)
  assert.equal(await total(), 5_001)
})
