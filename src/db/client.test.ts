import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { test } from 'node:test'
import { sql } from 'kysely'
import { createClient, isAway } from './client.ts'
import { statement } from './statement.ts'

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

test('a file that is not there does not make the database away', async () => {
  assert.equal(isAway(await reason(readFile('/nonexistent'))), false)
})
