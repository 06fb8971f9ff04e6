import assert from 'node:assert/strict'
import { test } from 'node:test'
import { fixedPrefix, readGlob } from './globs.ts'

const TABLE: readonly (readonly [string, string, boolean])[] = [
  ['README.md', 'README.md', true],
  ['README.md', 'docs/README.md', false],
  ['*.md', 'README.md', true],
  ['*.md', 'docs/README.md', false],
  ['*', '.gitignore', true],
  ['docs/*', 'docs/a.md', true],
  ['docs/*', 'docs/a/b.md', false],
  ['docs/**/*', 'docs/a/b.md', true],
  ['docs/**/*', 'docs/a.md', true],
  ['docs/**', 'docs/a/b.md', true],
  ['docs/**', 'docs', false],
  ['**/*.rb', 'a.rb', true],
  ['**/*.rb', 'x/y/a.rb', true],
  ['**/a/*.rb', 'x/a/b.rb', true],
  ['**/a/*.rb', 'x/a/y/b.rb', false],
  ['*.{rb,py}', 'a.py', true],
  ['*.{rb,py}', 'a.js', false],
  ['{a,b{c,d}}/x', 'bd/x', true],
  ['a?c', 'abc', true],
  ['a?c', 'a/c', false],
  ['[a-c]x', 'bx', true],
  ['[!a-c]x', 'bx', false],
  ['[^a-c]x', 'dx', true],
  ['\\*', '*', true],
  ['\\*', 'a', false],
  ['a**b', 'axxb', true],
  ['A', 'a', false],
  ['[', '[', true],
]

test('patterns match whole paths, segment by segment', () => {
  for (const [pattern, path, expected] of TABLE)
    assert.equal(readGlob(pattern)(path), expected, `${pattern} ${path}`)
})

test('many stars and braces take no more than the product of the lengths', () => {
  assert.equal(readGlob(`${'*a'.repeat(500)}b`)('a'.repeat(5_000)), false)
  assert.equal(readGlob(`${'**/'.repeat(200)}x`)('a/'.repeat(1_000)), false)
  assert.equal(readGlob('{a,b}'.repeat(50))('a'.repeat(50)), false)
})

test('every match begins with the part before the first wildcard', () => {
  assert.equal(fixedPrefix('ci/jobs/*.yml'), 'ci/jobs/')
  assert.equal(fixedPrefix('ci/{a,b}.yml'), 'ci/')
})
