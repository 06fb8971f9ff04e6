import assert from 'node:assert/strict'
import { test } from 'node:test'
import { coverageIn } from './coverage.ts'

test('the coverage is the first number in the last match of the log', async () => {
  const rows: [string, string, number | null][] = [
    ['total: 12.5%\ntotal: 80%\n', String.raw`total: \d+(\.\d+)?%`, 80],
    ['all 3 of 4: 75.25% covered', String.raw`\d+ of \d+: (\d+\.\d+)%`, 75.25],
    ['a 1% b 2%', String.raw`\d+%`, 2],
    ['section_end\r\u001B[0Ktotal: 7%\r\n', String.raw`^.*total: \d+%$`, 7],
    ['total: 12%\ntotal: none', String.raw`total: \w+`, 12],
    ['nothing', String.raw`\d+%`, null],
    ['1%', '(', null],
    [`${'a'.repeat(3_000)} 9%`, String.raw`\d+%`, null],
  ]
  for (const [log, source, expected] of rows) assert.equal(await coverageIn(log, source), expected, source)
})

test('a pattern that backtracks elsewhere takes time linear to the log', async () => {
  assert.equal(await coverageIn(`${'a'.repeat(1_900)}\n`.repeat(50), '(a+)+$b'), null)
})
