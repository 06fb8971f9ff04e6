import assert from 'node:assert/strict'
import { test } from 'node:test'
import { cleanPath, lastResort, suggestions } from './rules.ts'

test('a path is cleaned of what no path can hold, its letter case and inner dots kept', () => {
  for (const [given, clean] of [
    ['Plain', 'Plain'],
    ['with.dots', 'with.dots'],
    ['with_under-score', 'with_under-score'],
    ['with space', 'withspace'],
    ['a/b', 'ab'],
    ['ada@example.com', 'ada'],
    ['repo.git', 'repo'],
    ['feed.atom', 'feed'],
    ['a.git.atom...', 'a'],
    ['git', 'git'],
    ['--led', 'led'],
    ['üöä', 'blank'],
    ['', 'blank'],
    ['@everyone', 'blank'],
  ])
    assert.equal(cleanPath(given ?? ''), clean, given)
})

test('four suggestions are tried, in order, and then a number out of the time', () => {
  assert.deepEqual(suggestions('Oak'), ['Oak1', 'Oak2', 'Oak3', 'Oak4'])
  assert.deepEqual(suggestions('oak.git'), ['oak1', 'oak2', 'oak3', 'oak4'])
  assert.equal(lastResort('oak.git', new Date(1_700_000_000_000)), 'oak1700000000000')
})
