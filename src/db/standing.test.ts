import assert from 'node:assert/strict'
import { after, before, beforeEach, test } from 'node:test'
import { sql } from 'kysely'
import { startTestServer } from '../../test/support/database.ts'
import { createClient, type Client } from './client.ts'
import type { Send } from './lengths.ts'
import { COUNTED, FAR, ordered, orderedStatements, paged, pageStatements, type Listed } from './pages.ts'
import { createPages, type Pages } from './standing.ts'
import type { Statement } from './statement.ts'

interface Values {
  readonly owner: number
  readonly limit: number
  readonly offset: number
}
interface Row {
  readonly id: number
}
const plain = pageStatements<object, Values, Row>((p) =>
  paged(
    sql<Row>`select id from things where owner = ${p.owner}::int order by id limit ${p.limit} offset ${p.offset}`,
    sql`select from things where owner = ${p.owner}::int`,
  ),
)({})
const inOrder = orderedStatements<object, Values, Row>((p) =>
  ordered(
    {
      chosen: sql`select id from things where owner = ${p.owner}::int order by id limit ${p.limit} offset ${p.offset}`,
      shown: (chosen) => sql<Row>`select t.id from (${chosen}) c join things t on t.id = c.id order by t.id`,
    },
    sql`select from things where owner = ${p.owner}::int`,
  ),
)({})

// A server of its own: what is committed to another database of the same server is a commit too.
let server: Awaited<ReturnType<typeof startTestServer>>
let client: Client
before(async () => {
  server = await startTestServer()
  client = createClient(server.connection)
  await client.script(`create function today() returns date language sql stable
    return coalesce(nullif(current_setting('test.day', true), ''), '2020-01-01')::date`)
})
after(async () => {
  await client.close()
  await server.stop()
})

let pages: Pages
/** What was sent, by what it does. */
const sent: string[] = []
beforeEach(async () => {
  pages = createPages()
  sent.length = 0
  await client.script(`drop table if exists things; create table things (owner int, id int primary key);`)
})

const fill = (count: number, owner: number, from = 1): string =>
  `insert into things (owner, id) select ${owner}, ${from} + g from generate_series(0, ${count - 1}) g;`

function kindOf({ text }: Statement<never, unknown>): string {
  if (text.includes('select array(')) return 'all in order'
  if (text.includes('unnest(')) return 'some of them'
  return text.includes('count(*)') ? 'counted' : 'not counted'
}
const send: Send = (statement, values) => {
  sent.push(kindOf(statement))
  return client.rows(statement, values)
}
const page = (list: typeof plain, values: Partial<Values> = {}): Promise<Listed<Row>> =>
  pages.page(list, { owner: 1, limit: 20, offset: 0, ...values }, send)
const total = async (list: typeof plain): Promise<number | undefined> => (await page(list)).total
const how = (): string[] => sent.splice(0)
const ids = async (list: typeof plain, offset: number): Promise<number[]> =>
  (await page(list, { offset })).items.map(({ id }) => id)
const from = (first: number): number[] => Array.from({ length: 20 }, (_, at) => first + at)

test('a list of thousands is counted, and put in order, once for all of its pages', async () => {
  await client.script(fill(5_000, 1))
  const offsets = [0, 20, 40, 4_960, 4_980, 5_000, 60]
  for (const offset of offsets) {
    const found = await page(inOrder, { offset })
    assert.equal(found.total, 5_000)
    assert.deepEqual(
      found.items.map(({ id }) => id),
      offset === 5_000 ? [] : from(offset + 1),
    )
  }
  const some = 'some of them'
  assert.deepEqual(how(), ['counted', 'counted', 'all in order', some, some, some, some, some])
})

test('one that is not put in order as a whole is counted once', async () => {
  await client.script(fill(5_000, 1))
  for (const offset of [0, 20, 40, 60]) assert.deepEqual(await ids(plain, offset), from(offset + 1))
  assert.equal(await total(plain), 5_000)
  assert.deepEqual(how(), ['counted', 'counted', 'not counted', 'not counted', 'not counted'])
})

for (const [name, list] of [
  ['counted', plain],
  ['put in order', inOrder],
] as const)
  test(`what is committed is on the next page of a list that was ${name}`, async () => {
    await client.script(fill(5_000, 1))
    for (let round = 0; round < 4; round++) await page(list)
    await client.script(`delete from things where id = 1; insert into things values (1, 6001), (1, 6002)`)
    assert.deepEqual([await ids(list, 0), await total(list)], [from(2), 5_001])
    for (let round = 0; round < 4; round++) assert.equal(await total(list), 5_001)
    await client.script(`update things set owner = 2 where id = 3`)
    assert.deepEqual(await ids(list, 0), [2, ...from(4).slice(0, 19)])
  })

test('where something is committed before each page, none is read twice but the first', async () => {
  await client.script(fill(5_000, 1))
  for (let round = 0; round < 3; round++) await page(inOrder)
  how()
  for (let round = 1; round <= 4; round++) {
    await client.script(`insert into things values (2, ${round + 10_000})`)
    assert.equal(await total(inOrder), 5_000)
  }
  assert.deepEqual(how(), ['some of them', 'counted', 'counted', 'counted', 'counted'])
})

test('what was not committed while a list was counted is there when it is', async () => {
  await client.script(fill(5_000, 1))
  const writer = createClient(server.connection)
  const totals: (number | undefined)[] = []
  await writer.transaction(async (tx) => {
    await tx.script(`insert into things values (1, 6001)`)
    for (let round = 0; round < 4; round++) totals.push(await total(inOrder))
  })
  totals.push(await total(inOrder))
  assert.deepEqual(totals, [5_000, 5_000, 5_000, 5_000, 5_001])
  await writer.close()
})

test('a transaction sees what it wrote itself', async () => {
  await client.script(fill(5_000, 1))
  const values = { owner: 1, limit: 20, offset: 0 }
  await client.transaction(async (tx) => {
    for (let round = 0; round < 4; round++) assert.equal((await tx.page(inOrder, values)).total, 5_000)
    await tx.script(`insert into things values (1, 6001)`)
    assert.equal((await tx.page(inOrder, values)).total, 5_001)
  })
})

test('the end of a day is a change, for memberships end with it, and nothing is committed', async () => {
  await client.script(fill(5_000, 1))
  const one = createClient(server.connection, { poolSize: 1 })
  const read = (): Promise<Listed<Row>> =>
    pages.page(inOrder, { owner: 1, limit: 20, offset: 0 }, (statement, values) => {
      sent.push(kindOf(statement))
      return one.rows(statement, values)
    })
  for (let round = 0; round < 4; round++) await read()
  how()
  await one.script(`set test.day = '2020-01-02'`)
  await read()
  assert.deepEqual(how(), ['some of them', 'counted'])
  await one.close()
})

test('short ones that are hard to find are put in order once, if it took long twice', async () => {
  await client.script(fill(30, 1))
  const slow = orderedStatements<object, Values, Row>((p) =>
    ordered(
      {
        chosen: sql`select id from things where owner = ${p.owner}::int order by id limit ${p.limit} offset ${p.offset}`,
        shown: (chosen) =>
          sql<Row>`select t.id from (${chosen}) c join things t on t.id = c.id order by t.id`,
      },
      sql`select from things, pg_sleep(0.005) where owner = ${p.owner}::int`,
    ),
  )({})
  for (let round = 0; round < 4; round++) assert.equal((await page(slow)).total, 30)
  assert.deepEqual(how(), ['counted', 'counted', 'all in order', 'some of them', 'some of them'])
})

test('a list of a few more than 10,000 has no total, and is not counted again for that', async () => {
  await client.script(fill(FAR, 1))
  for (let round = 0; round < 4; round++) assert.equal(await total(inOrder), undefined)
  assert.deepEqual(how(), ['counted', 'counted', 'not counted', 'not counted'])
  await client.script(`delete from things where id > ${COUNTED}`)
  assert.equal(await total(inOrder), COUNTED)
})

test('another list is another: no page of one is of the other', async () => {
  await client.script(fill(3_000, 1) + fill(2_500, 2, 3_001))
  for (let round = 0; round < 4; round++) {
    assert.equal((await page(inOrder, { owner: 2 })).items[0]?.id, 3_001)
    assert.equal((await page(inOrder)).items[0]?.id, 1)
    assert.deepEqual([await total(inOrder), await total(plain)], [3_000, 3_000])
  }
})

test('a client does all of that by itself', async () => {
  await client.script(fill(5_000, 1))
  const names: string[] = []
  const own = createClient(server.connection, { onStatement: (name) => names.push(name) })
  for (const offset of [0, 20, 40, 60]) {
    const found = await own.page(inOrder, { owner: 1, limit: 20, offset })
    assert.deepEqual([found.items[0]?.id, found.total], [offset + 1, 5_000])
  }
  const counted = inOrder('as published').name
  const { all, some } = inOrder.inOrder ?? assert.fail()
  assert.deepEqual(names, [counted, counted, all().name, some().name, some().name])
  await own.close()
})
