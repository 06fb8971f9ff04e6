import assert from 'node:assert/strict'
import { test } from 'node:test'
import { nameFaults } from './rules.ts'

const FORMAT =
  "can contain only letters, digits, '_', '-' and '.'. Cannot start with '-', end in '.git' or end in '.atom'."

test('an alias looks like the path of a project', () => {
  const good = 'a A 0 _ . tools My-Tools_2.0 .hidden _x 1-2 git a.gitx a.git.b atom'.split(' ')
  for (const name of [...good, 'x'.repeat(255)]) assert.deepEqual(nameFaults(name), [], name)
})

test('anything else is told what an alias may hold', () => {
  const signs = "-a - a/b / a\\b a:b a@b a? a#b a%20b a&b a'b a.git .git a.atom .atom <b> $(x) a* a,b 😀"
  const blanks = ['a b', ' a', 'a ', 'a\nb', 'a\n', 'a\tb', 'a\u200bb']
  for (const name of [...signs.split(' '), ...blanks])
    assert.deepEqual(nameFaults(name), [FORMAT], JSON.stringify(name))
})

test('an alias takes no letters but those of paths: others look like them', () => {
  for (const name of ['t\u043eols', 'too\u217c', 'ümläut', '日本', 'ключ', 'ｔools', 'K\u212a', '\u0661'])
    assert.deepEqual(nameFaults(name), [FORMAT], JSON.stringify(name))
})

test('an alias is neither blank nor endless', () => {
  for (const name of ['', ' ', '\t\n', '\u00a0']) assert.deepEqual(nameFaults(name), ["can't be blank"])
  for (const name of ['x'.repeat(256), 'x'.repeat(100_000)])
    assert.deepEqual(nameFaults(name), ['is too long (maximum is 255 characters)'])
})
