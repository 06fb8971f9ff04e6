import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { Type as t, type TSchema } from 'typebox'
import type { Tree } from './forms.ts'
import { compileOne, compileReader } from './params.ts'
import { Problem } from '../problems.ts'
import { date, filled, listOf, nullable, oneOf, timestamp } from './schema.ts'

const outcome = (work: () => unknown): unknown => {
  try {
    return work()
  } catch (error) {
    if (error instanceof Problem && error.status === 400) return error.body['error']
    throw error
  }
}
/** Reads `x` alone: its value, or what is wrong. */
const one = (schema: TSchema, x: unknown): unknown => {
  const result = outcome(() => compileReader(t.Object({ x: schema }))({ x } as Tree))
  return typeof result === 'string' ? result : (result as { x?: unknown }).x
}

const MISSING = 'x is missing'
const INVALID = 'x is invalid'
const UNLISTED = 'x does not have a valid value'

function table(name: string, schema: TSchema, lines: readonly (readonly [unknown, unknown])[]): void {
  suite(name, () => {
    for (const [given, expected] of lines)
      test(`${JSON.stringify(given) ?? 'nothing'} is ${JSON.stringify(expected)}`, () =>
        assert.deepEqual(one(schema, given), expected))
  })
}

table('a text', t.String(), [
  [undefined, MISSING],
  [null, MISSING],
  ['', ''],
  [' a ', ' a '],
  [12, '12'],
  [1.5, '1.5'],
  [true, 'true'],
  [Infinity, INVALID],
  [-Infinity, INVALID],
  [{}, INVALID],
  [{ $ne: 1 }, INVALID],
  [['a'], INVALID],
  ['a\0b', INVALID],
  ['\uD800', INVALID],
  ['a\uDC00', INVALID],
  ['\u{1F600}', '\u{1F600}'],
])
table('a text that may not be blank', filled(), [
  ['', 'x is empty'],
  [' \t\n', 'x is empty'],
  ['\u00A0', 'x is empty'],
  [' a', ' a'],
])
table('a text of at most three signs', t.String({ maxLength: 3 }), [
  ['abc', 'abc'],
  ['abcd', 'x is expected to have length less than or equal to 3'],
])
table('a text by a pattern', t.String({ pattern: '^[a-z]+$' }), [
  ['abc', 'abc'],
  ['aBc', INVALID],
  ['abc\n', INVALID],
])
table('one of a few words', oneOf(['asc', 'desc']), [
  ['asc', 'asc'],
  ['ASC', UNLISTED],
  ['', UNLISTED],
  ['toString', UNLISTED],
  ['__proto__', UNLISTED],
  [['asc'], UNLISTED],
  [{ asc: 1 }, UNLISTED],
  [null, MISSING],
])
table('a whole number', t.Integer(), [
  [0, 0],
  ['0', 0],
  ['007', 7],
  ['+7', 7],
  [' 7 ', 7],
  [-7, -7],
  ['9007199254740991', 9_007_199_254_740_991],
  ['9007199254740992', INVALID],
  ['99999999999999999999', INVALID],
  [Infinity, INVALID],
  [1.5, INVALID],
  ['1.0', INVALID],
  ['1e3', INVALID],
  ['0x1', INVALID],
  ['1 2', INVALID],
  ['1;drop', INVALID],
  ['٣', INVALID],
  ['NaN', INVALID],
  ['Infinity', INVALID],
  [true, INVALID],
  [[1], INVALID],
  [{}, INVALID],
  ['', INVALID],
  ['  ', INVALID],
  [null, MISSING],
])
table('a whole number within bounds', t.Integer({ minimum: 1, maximum: 50, not: { const: 13 } }), [
  [1, 1],
  [50, 50],
  [0, UNLISTED],
  ['51', UNLISTED],
  [13, 'x has a value not allowed'],
])
table('a number', t.Number(), [
  ['1.5', 1.5],
  ['.5', 0.5],
  ['5.', 5],
  ['-1e3', -1_000],
  ['1e400', INVALID],
  ['0x1', INVALID],
  ['1,5', INVALID],
])
table('yes or no', t.Boolean(), [
  [true, true],
  ['true', true],
  ['True', true],
  ['t', true],
  ['1', true],
  [1, true],
  ['on', true],
  [false, false],
  ['FALSE', false],
  ['f', false],
  [0, false],
  ['off', false],
  ['yes', INVALID],
  ['2', INVALID],
  [2, INVALID],
  [[true], INVALID],
  [{}, INVALID],
  [' true', INVALID],
  ['', INVALID],
])
table('a day', date(), [
  ['2024-02-29', '2024-02-29'],
  ['2023-02-29', INVALID],
  ['2024-13-01', INVALID],
  ['2024-00-10', INVALID],
  ['0000-01-01', INVALID],
  ['0001-01-01', '0001-01-01'],
  ['9999-12-31', '9999-12-31'],
  ['99999-01-01', INVALID],
  ['2024-1-1', INVALID],
  // Typed clients send moments: the day is that in UTC.
  ['2024-01-01T00:00:00Z', '2024-01-01'],
  ['2024-01-31T23:30:00.000-05:00', '2024-02-01'],
  ['2024-02-01 00:30+0100', '2024-01-31'],
  ['2024-01-31T23:30', '2024-01-31'],
  ['2024-02-30T00:00:00Z', INVALID],
  ['9999-12-31T23:00:00-05:00', INVALID],
  ['0001-01-01T00:00:00+05:00', INVALID],
  ['today', INVALID],
  [20_240_101, INVALID],
  ['', INVALID],
])
table('a moment', timestamp(), [
  ['2024-01-31T08:00:00.000Z', '2024-01-31T08:00:00.000Z'],
  ['2024-01-31T08:00:00+02:00', '2024-01-31T08:00:00+02:00'],
  ['2024-01-31T08:00:00-0530', '2024-01-31T08:00:00-0530'],
  ['2024-01-31 08:00', '2024-01-31 08:00Z'],
  ['2024-01-31', '2024-01-31'],
  ['2024-01-31t08:00:00z', '2024-01-31t08:00:00z'],
  ['2024-02-30T08:00:00Z', INVALID],
  ['2024-01-31T25:00:00Z', INVALID],
  ['2024-01-31T08:61:00Z', INVALID],
  ['0000-01-01T00:00:00Z', INVALID],
  ['2024-01-31T08:00:00 02:00', INVALID],
  ['1706688000', INVALID],
  ['now', INVALID],
])
table('a list of numbers, also with commas', listOf(t.Integer()), [
  [
    [1, '2'],
    [1, 2],
  ],
  ['1,2', [1, 2]],
  ['1,,2,', [1, 2]],
  ['', []],
  [[], []],
  [[1, 'a', 'b'], INVALID],
  ['1,a', INVALID],
  [[[1]], INVALID],
  [{ 1: 2 }, INVALID],
  [1, [1]],
])
test('a list with commas has as many elements as one in JSON', () => {
  const list = listOf(t.String())
  assert.equal((one(list, 'a,'.repeat(99_999) + 'a') as string[]).length, 100_000)
  assert.equal(one(list, 'a,'.repeat(100_000) + 'a'), INVALID)
})
table('a list of texts', t.Array(t.String()), [
  [
    ['a', 'b,c'],
    ['a', 'b,c'],
  ],
  ['a,b', INVALID],
  [['a', {}], INVALID],
])
table('a number or null', nullable(t.Integer()), [
  [null, null],
  ['', null],
  ['1', 1],
  ['null', INVALID],
])

table('a day or null', nullable(date()), [
  [null, null],
  ['', null],
  ['2030-01-31', '2030-01-31'],
  ['null', INVALID],
])

table('a text or null', nullable(t.String()), [
  [null, null],
  ['', ''],
  ['', ''],
  ['null', 'null'],
])
table('any object', t.Unsafe({ type: 'object' }), [
  [{ a: [1] }, { a: [1] }],
  [[1], INVALID],
  ['{}', INVALID],
])

suite('a path parameter', () => {
  const path = (schema: TSchema, value: string): unknown => outcome(() => compileOne(schema, 'id')(value))
  test('is read by its type', () => {
    assert.equal(path(t.Integer(), '12'), 12)
    assert.equal(path(t.String(), '12'), '12')
  })
  test('is refused by name', () => {
    for (const value of ['x', '', '1.5', '1'.repeat(20)])
      assert.equal(path(t.Integer(), value), 'id is invalid')
    assert.equal(path(t.String(), 'a\0'), 'id is invalid')
  })
})

test('a type that no parameter can have is found at start', () => {
  assert.throws(() => compileReader(t.Object({ x: t.Null() })), /no parameter can be of type null/)
  assert.throws(
    () => compileReader(t.Object({ x: t.String({ format: 'email' }) })),
    /no parameter has the format email/,
  )
})
