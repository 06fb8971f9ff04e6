import assert from 'node:assert/strict'
import { test } from 'node:test'
import { rowParts } from './row_parts.ts'

test('the parts of a record are its JSON, whatever its long texts hold', () => {
  const texts = ['"\\\n\u0001', '😀', 'é', 'plain', '/', ':12"'].map((text) => text.repeat(9_999))
  const record = {
    title: 'short',
    odd: `x${'😀'.repeat(30_000)}`,
    none: null,
    notes: texts.map((body, id) => ({ id, body, at: new Date(0), tags: [body, 'short'] })),
  }
  const parts = [...rowParts(record, (row) => JSON.stringify(row))]
  assert.equal(parts.join(''), JSON.stringify(record))
  assert.ok(parts.every((part) => part.isWellFormed() && Buffer.byteLength(part) <= 60_000))
})
