import assert from 'node:assert/strict'
import { test } from 'node:test'
import { groupFaults, readCursor, writeCursor } from './rules.ts'

const encode = (value: unknown): string => Buffer.from(JSON.stringify(value)).toString('base64url')

test('a cursor gives back the group it was written for', () => {
  for (const place of [
    { name: 'plain', id: 1 },
    { name: '', id: 9 },
    { name: 'Ünïcödé / "quoted" \\', id: 999_999_999_999_999 },
  ])
    assert.deepEqual(readCursor(writeCursor(place)), place)
})

test('a cursor is the text of the last values and of the direction', () => {
  assert.equal(writeCursor({ name: 'a', id: 7 }), encode({ name: 'a', id: '7', _kd: 'n' }))
  assert.match(writeCursor({ name: '???>>>', id: 7 }), /^[\w-]+$/, 'it needs no encoding in an address')
})

test('invalid cursors are refused', () => {
  for (const text of [
    '',
    'x',
    encode(null),
    encode('name'),
    encode({ name: 'a' }),
    encode({ name: 'a', id: 7 }),
    encode({ name: 'a', id: '-7' }),
    encode({ name: 'a', id: '1e3' }),
    encode({ name: 'a', id: '1234567890123456' }),
    encode({ name: 7, id: '7' }),
    encode({ name: 'a\0', id: '7' }),
  ])
    assert.equal(readCursor(text), undefined, text)
})

test('a name has 255 characters at most, however many units each of them takes', () => {
  const sun = '\u{1F31E}'
  assert.deepEqual(groupFaults({ name: sun.repeat(255) }, true), {})
  assert.deepEqual(groupFaults({ name: sun.repeat(256) }, true), {
    name: ['is too long (maximum is 255 characters)'],
  })
})
