import assert from 'node:assert/strict'
import { test } from 'node:test'
import { isoDate } from '../../records/repositories/commit.ts'
import { readRange } from './rules.ts'

test('a name with two dots is a range, and an empty side of it is the default branch', () => {
  const rows: [string, string, string?, true?][] = [
    ['', ''],
    ['main', 'main'],
    ['v1.0', 'v1.0'],
    ['a.b.c', 'a.b.c'],
    ['feature/x', 'feature/x'],
    ['main...dev', 'dev', 'main', true],
    ['...dev', 'dev', '', true],
    ['main^..main', 'main', 'main^'],
    ['main..dev', 'dev', 'main'],
    ['v1.0..v2.0', 'v2.0', 'v1.0'],
    ['..dev', 'dev', ''],
    ['main..', '', 'main'],
    ['..', '', ''],
    ['a..b..c', 'b..c', 'a'],
  ]
  for (const [refName, from, exclude, symmetric] of rows) {
    const range = { from, ...(exclude !== undefined && { exclude }), ...(symmetric && { symmetric }) }
    assert.deepEqual(readRange(refName), range, JSON.stringify(refName))
  }
})

test('a moment is written in the zone it was recorded in', () => {
  const rows: [number, string, string][] = [
    [0, '+0000', '1970-01-01T00:00:00.000+00:00'],
    [0, '-0000', '1970-01-01T00:00:00.000-00:00'],
    [1_704_888_000, '+0000', '2024-01-10T12:00:00.000+00:00'],
    [1_704_888_000, '+0200', '2024-01-10T14:00:00.000+02:00'],
    [1_704_888_000, '-0730', '2024-01-10T04:30:00.000-07:30'],
    [1_704_888_000, '+0545', '2024-01-10T17:45:00.000+05:45'],
    [1_704_888_000, '+1400', '2024-01-11T02:00:00.000+14:00'],
    [1_704_843_000, '-1200', '2024-01-09T11:30:00.000-12:00'],
    [1_704_888_000, 'nonsense', '2024-01-10T12:00:00.000+00:00'],
    [4_294_967_296, '+0000', '2106-02-07T06:28:16.000+00:00'],
    [Number.MAX_SAFE_INTEGER, '+0000', '+275760-09-13T00:00:00.000+00:00'],
  ]
  for (const [seconds, offset, text] of rows) assert.equal(isoDate({ seconds, offset }), text)
})
