import assert from 'node:assert/strict'
import { after, before, beforeEach, test } from 'node:test'
import { sql } from 'kysely'
import { createTestDatabase } from '../../test/support/database.ts'
import { createClient, type Client } from './client.ts'
import { createLengths, type Send } from './lengths.ts'
import { COUNTED, FAR, paged, pageStatements, type Listed } from './pages.ts'

interface Values {
  readonly owner: number
  readonly limit: number
  readonly offset: number
}
const list = pageStatements<{ even: boolean }, Values, { id: number }>((p, { even }) => {
  const where = sql`owner = ${p.owner}::int and ${even ? sql`id % 2 = 0` : sql`true`}`
  return paged(
    sql<{ id: number }>`select id from things where ${where} order by id limit ${p.limit} offset ${p.offset}`,
    sql`select from things where ${where}`,
  )
})
const COUNTINGS = ['as published', 'farther', 'not'] as const

let database: Awaited<ReturnType<typeof createTestDatabase>>
let client: Client
before(async () => {
  database = await createTestDatabase()
  client = createClient({ connectionString: database.url })
})
after(async () => {
  await client.close()
  await database.drop()
})

const fill = (count: number, owner: number): string =>
  `insert into things (owner, id) select ${owner}, g from generate_series(1, ${count}) g;`

let now = 0
let lengths = createLengths()
/** How far each page was counted. */
const counted: string[] = []
beforeEach(async () => {
  now = 0
  lengths = createLengths(() => now)
  counted.length = 0
  await client.script(`drop table if exists things; create table things (owner int, id int);`)
})

async function page(values: Partial<Values> = {}, shape = { even: false }): Promise<Listed<{ id: number }>> {
  const statements = list(shape)
  const send: Send = (statement, bound) => {
    counted.push(COUNTINGS.find((each) => statements(each).name === statement.name) ?? '')
    return client.rows(statement, bound)
  }
  return lengths.page(statements, { owner: 1, limit: 20, offset: 0, ...values }, send)
}
const how = (): string[] => counted.splice(0)

test('a list that has a total is counted with each of its pages', async () => {
  await client.script(fill(COUNTED, 1))
  for (const offset of [0, 20, 40]) assert.equal((await page({ offset })).total, COUNTED)
  assert.deepEqual(how(), ['as published', 'as published', 'as published'])
})

test('a list of more than 12,000 is counted twice, and then no more for a while', async () => {
  await client.script(fill(FAR + 1, 1))
  for (const offset of [0, 20, 40, 11_980]) {
    const { items, total } = await page({ offset })
    assert.equal(total, undefined)
    assert.deepEqual(
      items.map(({ id }) => id),
      Array.from({ length: 20 }, (_, at) => offset + at + 1),
    )
  }
  assert.deepEqual(how(), ['as published', 'farther', 'not', 'not'])
  now += 5_000
  await page()
  await page()
  assert.deepEqual(how(), ['farther', 'not'])
})

test('a list of less than that is counted each time, so that what leaves it shows at once', async () => {
  await client.script(fill(FAR, 1))
  for (let round = 0; round < 3; round++) assert.equal((await page()).total, undefined)
  await client.script(`delete from things where id > ${COUNTED}`)
  assert.equal((await page()).total, COUNTED)
  assert.deepEqual(how(), ['as published', 'farther', 'as published', 'as published'])
  assert.equal((await page()).total, COUNTED)
  assert.deepEqual(how(), ['as published'])
})

test('another list is another length: other values and other conditions', async () => {
  await client.script(fill(50_000, 1) + fill(30, 2))
  for (let round = 0; round < 3; round++) await page()
  how()
  assert.equal((await page({ owner: 2 })).total, 30)
  await page({}, { even: true })
  assert.deepEqual(how(), ['as published', 'as published'])
})

test('a page that is not full is counted, whatever was known', async () => {
  await client.script(fill(50_000, 1))
  for (let round = 0; round < 3; round++) await page()
  await client.script(`delete from things where id > 7`)
  how()
  const { items, total } = await page()
  assert.deepEqual([items.length, total], [7, 7])
  assert.deepEqual(how(), ['not', 'as published'])
})

test('a client does all of that by itself', async () => {
  await client.script(fill(50_000, 1))
  const sent: string[] = []
  const own = createClient({ connectionString: database.url }, { onStatement: (name) => sent.push(name) })
  const all = list({ even: false })
  for (const offset of [0, 20, 40]) {
    const { items, total } = await own.page(all, { owner: 1, limit: 20, offset })
    assert.deepEqual([items[0]?.id, items.length, total], [offset + 1, 20, undefined])
  }
  assert.deepEqual(
    sent,
    COUNTINGS.map((counting) => all(counting).name),
  )
  await own.close()
})
