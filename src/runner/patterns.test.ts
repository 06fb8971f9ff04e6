import assert from 'node:assert/strict'
import { test } from 'node:test'
import { readPattern } from './patterns.ts'

test('patterns match paths, and what is below a directory that they match', () => {
  const rows: [string, string, boolean][] = [
    ['out/', 'out/a/b', true],
    ['out', 'outer', false],
    ['*.txt', 'a.txt', true],
    ['*.txt', 'a/a.txt', false],
    ['**/*.txt', 'a.txt', true],
    ['**/*.txt', 'a/b/c.txt', true],
    ['a/**/z', 'a/z', true],
    ['a/**/z', 'a/b/c/z/inside', true],
    ['a?c/[x-z].log', 'abc/y.log', true],
    ['a?c/[!x-z].log', 'abc/y.log', false],
    ['.', 'anything', true],
    ['./out/*', 'out/a', true],
    ['a*b*c*d', 'aXbXcXdX', false],
    [`${'*a'.repeat(50)}b`, 'a'.repeat(255), false],
  ]
  for (const [pattern, path, expected] of rows)
    assert.equal(readPattern(pattern)(path), expected, `${pattern} ${path}`)
})
