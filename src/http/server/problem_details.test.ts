import assert from 'node:assert/strict'
import { test } from 'node:test'
import { wantsDetails } from './problem_details.ts'

test('problem details are for those who ask for them, in letters of either case and not by a quality of nought', () => {
  const rows: [string | undefined, boolean][] = [
    [undefined, false],
    ['application/json', false],
    ['application/problem+json', true],
    ['Application/Problem+JSON', true],
    ['application/json;q=0.5, application/problem+json;q=0.9', true],
    ['application/problem+json;q=0', false],
    ['application/problem+json; q=0.000, application/json', false],
  ]
  for (const [accept, wants] of rows) assert.equal(wantsDetails(accept), wants, accept)
})
