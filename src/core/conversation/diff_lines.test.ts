import assert from 'node:assert/strict'
import { test } from 'node:test'
import { isSame, lineCode, lineOn, linesOf, standsAt } from './diff_lines.ts'

const diff =
  '@@ -3,3 +3,4 @@\n a\n-b\n+B\n+B2\n c\n@@ -10 +11,2 @@ f()\n-x\n+y\n+z\n\\ No newline at end of file\n'
const numbers = Array.from({ length: 20 }, (_, i) => i)

test('lines are counted through hunks', () => {
  const lines = (side: 'new' | 'old'): number[] => numbers.filter((line) => standsAt(diff, line, side))
  assert.deepEqual(lines('new'), [4, 5, 11, 12])
  assert.deepEqual(lines('old'), [4, 10])
  assert.deepEqual(standsAt(diff, 5, 'new'), { kind: 'added', before: 5, after: 5 })
  assert.equal(standsAt(diff, 3, 'new'), undefined)
})

test('a line that is the same on both sides is known inside hunks, between and around them', () => {
  const pairs = numbers.flatMap((before) =>
    numbers.filter((after) => isSame(diff, before, after, 15)).map((after) => [before, after]),
  )
  const same = [
    [1, 1],
    [2, 2],
    [3, 3],
    [5, 6],
    [6, 7],
    [7, 8],
    [8, 9],
    [9, 10],
    [11, 13],
    [12, 14],
    [13, 15],
  ]
  assert.deepEqual(pairs, same)
  assert.equal(isSame('', 0, 0, 5), false)
})

test('a file that is new or gone has its lines on one side', () => {
  assert.deepEqual(
    [...linesOf('@@ -0,0 +1,2 @@\n+a\n+b\n')],
    [
      { kind: 'added', before: 0, after: 1 },
      { kind: 'added', before: 0, after: 2 },
    ],
  )
  assert.deepEqual(
    [...linesOf('@@ -1,2 +0,0 @@\n-a\n-b\n')],
    [
      { kind: 'removed', before: 1, after: 0 },
      { kind: 'removed', before: 2, after: 0 },
    ],
  )
})

test('a line has a code of its own', () =>
  assert.equal(lineCode('README', 1, 2), '69e27356ef629022720d868ab0c0e3394775b6c1_1_2'))

test('a line is found on the other side by its number', () => {
  const found = (to: 'new' | 'old'): unknown[] =>
    [1, 3, 4, 5, 6, 9, 10, 11, 12, 13].map((line) => lineOn(diff, line, to))
  assert.deepEqual(found('new'), [1, 3, undefined, 6, 7, 10, undefined, 13, 14, 15])
  assert.deepEqual(found('old'), [1, 3, undefined, undefined, 5, 8, 9, undefined, undefined, 11])
  assert.equal(lineOn('', 7, 'new'), 7)
})
