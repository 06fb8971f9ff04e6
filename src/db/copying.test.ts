import assert from 'node:assert/strict'
import { Readable } from 'node:stream'
import { text } from 'node:stream/consumers'
import { finished } from 'node:stream/promises'
import { after, before, test } from 'node:test'
import { sql } from 'kysely'
import { createTestDatabase } from '../../test/support/database.ts'
import { until } from '../../test/support/program.ts'
import { createClient, type Client } from './client.ts'
import { statement } from './statement.ts'

let database: Awaited<ReturnType<typeof createTestDatabase>>
let client: Client
before(async () => {
  database = await createTestDatabase()
  client = createClient({ connectionString: database.url }, { poolSize: 1 })
})
after(async () => {
  await client.close()
  await database.drop()
})

const read = (rows: AsyncIterable<Buffer>): Promise<string> => text(Readable.from(rows))

const copying = statement(
  () =>
    sql<{
      pid: number
    }>`select pid from pg_stat_activity where query like 'copy (%' and datname = current_database()`,
)
const end = statement(() => sql`select pg_terminate_backend(pid) from (${sql.raw(copying.text)}) c`)
/** In the select list the series is not stored before its first row. */
const endless = sql`select repeat('x', 1000), generate_series(1, 1000000000)`

test('a copy is CSV with a header, quoted where it has to be', async () => {
  const rows = sql`select * from (values (1, 'a,"b"'), (2, null)) as r (id, "Full Name")`
  assert.equal(await read(client.copy(rows)), 'id,Full Name\n1,"a,""b"""\n2,\n')
})

test('a copy takes neither parameters nor place in a transaction', async () => {
  await assert.rejects(read(client.copy(sql`select ${1}`)), /COPY takes no parameters/)
  await client.transaction(async (tx) => assert.throws(() => tx.copy(sql`select 1`), /inside a transaction/))
})

test('a copy that is not read to its end frees its connection', async () => {
  for await (const chunk of client.copy(endless)) {
    assert.ok(chunk.length > 0)
    break
  }
  await until('the copy has ended', async () => (await client.rows(copying, {})).length === 0)
})

test('a copy fails with its statement and with its connection', async () => {
  await assert.rejects(
    read(client.copy(sql`select 1 / (2 - n) from generate_series(1, 9) n`)),
    /division by zero/,
  )
  const cut = Readable.from(client.copy(endless)).once('data', () => void client.rows(end, {}))
  await assert.rejects(finished(cut))
})
