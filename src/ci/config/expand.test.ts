import assert from 'node:assert/strict'
import { test } from 'node:test'
import { readDuration } from './duration.ts'
import { byKey, expand, findCycle, findIn, layer } from './expand.ts'
import type { Variable } from './plan.ts'

const variables: readonly Variable[] = [
  { key: 'A', value: 'a' },
  { key: 'B', value: '$A-${A}-%A%' },
  { key: 'C', value: '$B!' },
  { key: 'RAW', value: '$A', raw: true },
  { key: 'FILE', value: 'secret', file: true },
  { key: 'X', value: '$Y' },
  { key: 'Y', value: '$X' },
  { key: 'EMPTY', value: '' },
]
const find = findIn(byKey(variables))

test('variables expand in three forms, into each other, and unknown ones stay', () => {
  const table = {
    'no reference': 'no reference',
    '$A ${A} %A%': 'a a a',
    $C: 'a-a-a!',
    $$A: '$A',
    $$$A: '$a',
    $RAW: '$A',
    $FILE: '$FILE',
    '$NONE ${NONE} %NONE%': '$NONE ${NONE} %NONE%',
    '[$EMPTY]': '[]',
    $AB: '$AB',
    '${A}B': 'aB',
    $X: '$X',
    '100%': '100%',
  }
  for (const [text, expected] of Object.entries(table)) assert.equal(expand(text, find), expected, text)
})

test('values that multiply each other stay small', () => {
  const bomb = Array.from({ length: 40 }, (_, at) => ({ key: `V${at}`, value: `$V${at + 1}`.repeat(10) }))
  const text = expand('$V0', findIn(byKey([...bomb, { key: 'V40', value: 'lol' }])))
  assert.ok(text.length < 200_000, String(text.length))
})

test('a cycle of variables is found and named', () => {
  assert.deepEqual(findCycle(variables), ['X', 'Y'])
  assert.equal(findCycle(variables.slice(0, 5)), undefined)
  assert.deepEqual(findCycle([{ key: 'S', value: '$S' }]), ['S'])
})

test('later lists of variables override earlier ones by key', () => {
  const merged = layer(
    [
      { key: 'A', value: '1' },
      { key: 'B', value: '1' },
    ],
    [{ key: 'A', value: '2' }],
  )
  assert.deepEqual(merged, [
    { key: 'A', value: '2' },
    { key: 'B', value: '1' },
  ])
})

test('durations are numbers with units, or seconds', () => {
  const table = {
    '1 hour': 3_600,
    '1h 30m': 5_400,
    '2h20min': 8_400,
    '3 mins 4 sec': 184,
    '6 mos 1 day': 15_638_400,
    '47 yrs 6 mos and 4d': 1_498_089_600,
    '3 weeks and 2 days': 1_987_200,
    '1000 years': 31_536_000_000,
    '42': 42,
    '1.5 hours': 5_400,
  }
  for (const [text, seconds] of Object.entries(table)) assert.equal(readDuration(text), seconds, text)
  for (const text of [
    '',
    'soon',
    '1 fortnight',
    'h',
    '-1 day',
    '1 day!',
    '1001 years',
    '9'.repeat(100),
    '9'.repeat(101),
  ])
    assert.equal(readDuration(text), null, text)
})
