import assert from 'node:assert/strict'
import { test } from 'node:test'
import { sql } from 'kysely'
import { statements } from './statement.ts'

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
