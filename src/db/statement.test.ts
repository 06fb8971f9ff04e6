import assert from 'node:assert/strict'
import { test } from 'node:test'
import { sql } from 'kysely'
import { known, statements } from './statement.ts'

test('whatever page is asked for, few limits stand in the texts of statements, and none is short of the page', () => {
  const reaches = Array.from({ length: 60 }, (_, at) => Math.min(2 ** at, Number.MAX_SAFE_INTEGER))
  for (const reach of reaches) assert.ok(known(reach) >= reach, `${known(reach)} for ${reach}`)
  for (let reach = 1; reach <= 300_000; reach += 7) reaches.push(reach)
  const limits = new Set(reaches.map(known))
  assert.ok(limits.size < 20, `${limits.size} limits`)
  // As numbers of the database.
  for (const limit of limits) assert.match(String(limit), /^\d{2,18}$/)
})

test('a family forgets what was not asked for the longest when it has grown large', () => {
  let built = 0
  const family = statements<{ at: number }, object, unknown>((_, { at }) => {
    built++
    return sql`select ${sql.lit(at)}`
  })
  const often = family({ at: 0 })
  for (let at = 1; at <= 10_000; at++) {
    family({ at })
    assert.equal(family({ at: 0 }), often)
  }
  assert.equal(built, 10_001)
  family({ at: 1 })
  assert.equal(built, 10_002)
})
