import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { createServer, connect, type Socket } from 'node:net'
import { after, before, test } from 'node:test'
import { sql } from 'kysely'
import { createTestDatabase } from '../../test/support/database.ts'
import { createClient } from './client.ts'
import { isAway } from './errors.ts'
import { statement, statements, type Slots } from './statement.ts'

let database: Awaited<ReturnType<typeof createTestDatabase>>
before(async () => {
  database = await createTestDatabase()
})
after(() => database.drop())

const reason = (work: Promise<unknown>): Promise<unknown> =>
  work.then(
    () => assert.fail('it did not fail'),
    (error: unknown) => error,
  )

test('a database whose socket is not there is away', async () => {
  const client = createClient({ host: '/nonexistent', user: 'guildhall', database: 'guildhall' })
  const one = statement(() => sql`select 1`)
  assert.equal(isAway(await reason(client.rows(one, {}))), true)
  assert.equal(isAway(await reason(client.one(one, {}))), true)
  await client.close()
})

test('sessions have the settings that the program needs, whatever those of the server are', async () => {
  const wanted = { jit: 'off', random_page_cost: '1.1', synchronous_commit: 'on', TimeZone: 'UTC' }
  const stock = createClient({ connectionString: database.url })
  await stock.script(`do $$ begin
    execute format('alter database %I set jit = on', current_database());
    execute format('alter database %I set random_page_cost = 4', current_database());
    execute format('alter database %I set synchronous_commit = off', current_database());
    execute format('alter database %I set timezone = %L', current_database(), 'Asia/Tokyo');
  end $$`)
  await stock.close()
  const client = createClient({ connectionString: database.url })
  const shown = statement(
    () => sql<Record<string, string>>`
      select current_setting('jit') as jit, current_setting('random_page_cost') as random_page_cost,
             current_setting('synchronous_commit') as synchronous_commit, current_setting('TimeZone') as "TimeZone"`,
  )
  assert.deepEqual(await client.rows(shown, {}), [wanted])
  assert.deepEqual(await client.one(shown, {}), wanted)
  await client.close()
})

test('a file that is not there does not make the database away', async () => {
  assert.equal(isAway(await reason(readFile('/nonexistent'))), false)
})

/** The database behind a door that can freeze: what comes then waits until it thaws. */
async function freezer(): Promise<{ url: string; freeze: (yes: boolean) => void; close: () => void }> {
  const to = new URL(database.url.replace('@/', '@local/'))
  const path = `${to.searchParams.get('host')}/.s.PGSQL.${to.searchParams.get('port')}`
  const sockets = new Set<Socket>()
  let isFrozen = false
  const server = createServer((from) => {
    const behind = connect(path)
    for (const socket of [from, behind]) {
      sockets.add(socket)
      socket.on('error', () => {})
      socket.on('close', () => [from, behind].forEach((each) => each.destroy()))
    }
    from.pipe(behind).pipe(from)
    if (isFrozen) from.pause()
  })
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as { port: number }
  return {
    url: `postgres://${to.username}@127.0.0.1:${port}${to.pathname}`,
    freeze: (yes) => {
      isFrozen = yes
      sockets.forEach((socket) => (yes ? socket.pause() : socket.resume()))
    },
    close: () => {
      sockets.forEach((socket) => socket.destroy())
      server.close()
    },
  }
}

test('a database that hangs is given up as away on both lanes and in transactions, and serves again when it thaws', async () => {
  const door = await freezer()
  const client = createClient(
    { connectionString: door.url },
    { deadlines: { point: 100, statement: 100 }, poolSize: 2 },
  )
  const one = statement(() => sql<{ n: number }>`select 1 as n`)
  const all = (): Promise<unknown>[] => [
    client.one(one, {}),
    client.rows(one, {}),
    client.transaction((tx) => tx.rows(one, {})),
  ]
  await Promise.all(all())
  door.freeze(true)
  for (const error of await Promise.all(all().map(reason))) assert.equal(isAway(error), true, String(error))
  door.freeze(false)
  await Promise.all(all())
  await client.close()
  door.close()
})

test('a database that accepts connections and answers none of them is away', async () => {
  const door = await freezer()
  door.freeze(true)
  const client = createClient({ connectionString: door.url }, { patience: 100 })
  const one = statement(() => sql`select 1`)
  const all = [client.rows(one, {}), client.one(one, {}), client.transaction((tx) => tx.rows(one, {}))]
  for (const error of await Promise.all(all.map(reason))) assert.equal(isAway(error), true)
  door.freeze(false)
  assert.equal((await client.rows(one, {})).length, 1)
  await client.close()
  door.close()
})

test('a statement that finds no free connection in time is answered as if the database were away', async () => {
  const client = createClient({ connectionString: database.url }, { patience: 100, poolSize: 1 })
  const one = statement(() => sql`select 1`)
  await client.transaction(async () => {
    assert.equal(isAway(await reason(client.rows(one, {}))), true)
  })
  assert.equal((await client.rows(one, {})).length, 1)
  await client.close()
})

test('a host that cannot be reached, or whose name is not known, is a database that is away', async () => {
  const client = createClient({ host: 'database.invalid', user: 'guildhall', database: 'guildhall' })
  assert.equal(
    isAway(
      await reason(
        client.rows(
          statement(() => sql`select 1`),
          {},
        ),
      ),
    ),
    true,
  )
  await client.close()
  for (const code of ['EHOSTUNREACH', 'ENETUNREACH'])
    assert.equal(isAway(Object.assign(new Error('connect'), { code, syscall: 'connect' })), true)
})

test('moments are read to the millisecond, whatever zone and age they have', async () => {
  const client = createClient({ connectionString: database.url })
  const moments = statement(
    (p: Slots<{ zone: string }>) => sql<{ at: unknown }>`
      select t::timestamptz as at, set_config('TimeZone', ${p.zone}, true)
        from unnest('{2026-01-31 10:00:00.123456Z,2026-01-31 10:00:00Z,12026-01-31 10:00Z,0044-03-15 BC,infinity}'::text[]) t`,
  )
  for (const zone of ['UTC', 'Asia/Kolkata'])
    assert.deepEqual(
      await client.transaction(async (tx) => {
        await tx.rows(moments, { zone })
        const rows = await tx.rows(moments, { zone })
        return rows.slice(0, 3).map(({ at }) => (at as Date).toISOString())
      }),
      ['2026-01-31T10:00:00.123Z', '2026-01-31T10:00:00.000Z', '+012026-01-31T10:00:00.000Z'],
    )
  await client.close()
})

test('a statement that the database ends for taking too long does not make the database away', async () => {
  const client = createClient({ connectionString: database.url }, { deadlines: { point: 50, statement: 50 } })
  const slow = statement(() => sql`select pg_sleep(10)`)
  assert.equal(isAway(await reason(client.rows(slow, {}))), false)
  assert.equal(isAway(await reason(client.one(slow, {}))), false)
  await client.close()
})

test('a statement is planned once for all values, and anew where it has asked for that', async () => {
  const client = createClient({ connectionString: database.url }, { poolSize: 1 })
  const mode = sql<{ mode: string }>`select current_setting('plan_cache_mode') as mode`
  const once = statement(() => mode)
  const anew = statements<object, object, { mode: string }>(
    () => mode,
    () => true,
  )({})
  const seen: (string | undefined)[] = []
  for (const each of [once, anew, anew, once, anew]) seen.push((await client.rows(each, {}))[0]?.mode)
  seen.push(await client.transaction(async (tx) => (await tx.rows(once, {}))[0]?.mode))
  const [generic, custom] = ['force_generic_plan', 'force_custom_plan']
  assert.deepEqual(seen, [generic, custom, custom, generic, custom, generic])
  await client.close()
})

test('a connection that has planned much gives way to another', async () => {
  const client = createClient({ connectionString: database.url }, { poolSize: 1 })
  const long = 'x'.repeat(70_000)
  const some = statements<{ at: number }, object, { pid: number }>(
    (_, { at }) => sql<{ pid: number }>`select pg_backend_pid() as pid, ${sql.lit(at + long)} as text`,
  )
  const pid = async (at: number): Promise<number | undefined> => (await client.rows(some({ at }), {}))[0]?.pid
  const first = await pid(0)
  for (const at of [0, 1, 0, 1]) assert.equal(await pid(at), first)
  // The third is one too many, and the last that it answers.
  assert.equal(await pid(2), first)
  const second = await pid(2)
  assert.notEqual(second, first)
  const inside = await client.transaction(async (tx) => {
    for (const at of [0, 1]) await tx.rows(some({ at }), {})
    return (await tx.rows(some({ at: 1 }), {}))[0]?.pid
  })
  assert.equal(inside, second)
  assert.notEqual(await pid(0), second)
  await client.close()
})
