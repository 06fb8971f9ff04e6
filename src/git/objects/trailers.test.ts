import assert from 'node:assert/strict'
import { join } from 'node:path'
import { test } from 'node:test'
import { dice, gitBytes, gitText, initRepository, scratch } from '../../../test/support/git_fixtures.ts'
import { parseTrailers } from './trailers.ts'

const directory = join(scratch(), 'trailers.git')
initRepository(directory)

/** The trailers that git finds in each message, as [key, value] pairs, with one git process for all of them. */
function askGit(messages: readonly string[]): [string, string][][] {
  const stream = messages.map((message) => {
    const size = Buffer.byteLength(message)
    return `commit refs/heads/m\ncommitter A <a@x> 1 +0000\ndata ${size}\n${message}\n`
  })
  gitText(directory, ['fast-import', '--quiet', '--force'], stream.join('') + 'done\n')
  const format = '%(trailers:only,unfold,key_value_separator=%x01,separator=%x02)%x03'
  const shown = gitBytes(directory, ['log', '--reverse', '-z', `--format=${format}`, 'm']).toString()
  const records = shown.split('\u0003').slice(0, -1)
  gitText(directory, ['update-ref', '-d', 'refs/heads/m'])
  return records.map((record) =>
    record
      .replace(/^\0/, '')
      .split('\u0002')
      .filter((line) => line !== '')
      .map((line): [string, string] => {
        const [key = '', value = ''] = line.split('\u0001')
        return [key, value]
      }),
  )
}

function expectSame(messages: readonly string[]): void {
  const expected = askGit(messages)
  assert.equal(expected.length, messages.length)
  for (const [index, message] of messages.entries()) {
    const pairs = expected[index] ?? []
    const extended = new Map<string, string[]>()
    for (const [key, value] of pairs) extended.set(key, [...(extended.get(key) ?? []), value])
    const found = parseTrailers(message)
    assert.deepEqual(new Map(Object.entries(found.extended)), extended, JSON.stringify(message))
    const last = new Map([...extended].map(([key, values]) => [key, values.at(-1)]))
    assert.deepEqual(new Map(Object.entries(found.trailers)), last)
  }
}

void test('chosen messages have the trailers that git finds', () => {
  expectSame([
    'Title\n\nKey: value\n',
    'Title\n\nKey: value',
    'Key: value\n',
    'Title\nKey: value\n',
    '\n\n  \nTitle\n\nKey: value\n',
    'Title\n\nKey: one\nKey: two\nkey: three\n',
    'Title\n\nKey: one\n  folded\n\tagain\nOther: x\n',
    'Title\n\nKey : spaced\nKey\t: tab\nKey  x: no\n',
    'Title\n\nnot a trailer\nSigned-off-by: A <a@x>\n',
    'Title\n\na\nb\nc\nd\nSigned-off-by: A <a@x>\n',
    'Title\n\na\nb\nc\nSigned-off-by: A <a@x>\n',
    'Title\n\nSigned-off-by: A <a@x>\n(cherry picked from commit abc)\nChange-Id: I1\n',
    'Title\n\nnot\nKey: value\n',
    'Title\n\nKey: value\n\n\n\n',
    'Title\n\nKey: value\n# comment\n',
    'Title\n\nKey: value\n# comment\nOther: y\n',
    'Title\n\nKey: value\n\nConflicts:\n\ta\n\tb\n',
    'Title\n\nKey: value\n---\nOther: x\n',
    'Title\n\nKey: value\n# ------------------------ >8 ------------------------\nOther: x\n',
    'Title\n\nKey:value\nEmpty:\nEmptySpace: \n',
    'Title\n\nhttp://example.org\nhttps://x: y\n',
    'Title\r\n\r\nKey: value\r\nOther: y\r\n',
    'Title\n\n Key: indented\nKey: value\n',
    'Title\n\nKéy: value\nKey: ü日本\n',
    'Title\n\nÜ: v\n',
    'Title\n\n__proto__: x\nconstructor: y\n',
    'Title\n\nKey: a\n \n  b\n',
    '# comment\n\nKey: value\n',
    'Title\n\nKey: value\n\u00a0\n',
    'x\n',
    'Title\n\n:\n',
    'Title\n\n-: v\n1: w\n',
  ])
})

void test('5,000 random messages have the trailers that git finds', () => {
  const roll = dice(3)
  const lines = [
    'Title',
    '',
    '',
    'Key: value',
    'Signed-off-by: A <a@x>',
    ' folded',
    '\ttab',
    'plain text',
    '# comment',
    '---',
    'Conflicts:',
    '(cherry picked from commit 1)',
    ' ',
    'Other-Key : x',
    'a b: c',
    'E:',
    '\r',
    'Key: v\r',
  ]
  const messages = Array.from({ length: 5_000 }, () => {
    const chosen = Array.from({ length: 1 + roll(10) }, () => lines[roll(lines.length)] ?? '')
    return chosen.join('\n') + (roll(4) === 0 ? '' : '\n')
  })
  expectSame(messages)
})

void test('keys that name parts of every object stay plain keys of their own', () => {
  const found = parseTrailers('T\n\nconstructor: x\ntoString: y\n')
  assert.deepEqual(Object.keys(found.trailers), ['constructor', 'toString'])
  assert.equal(Object.getPrototypeOf(found.trailers), null)
  assert.equal(Object.getPrototypeOf(found.extended), null)
})

/**
 * Milliseconds of processor time to read a message, which another program's load does not lengthen: the least of three,
 * for a collection of what other tests left may fall into one.
 */
function cost(message: string): number {
  const times = [1, 2, 3].map(() => {
    const before = process.cpuUsage()
    parseTrailers(message)
    return process.cpuUsage(before).user / 1000
  })
  return Math.min(...times)
}

for (const [name, message] of Object.entries({
  '50,000 trailers': `T\n\n${'Key: value\n'.repeat(50_000)}`,
  'one folded trailer of 2 MB': `T\n\nKey: v\n${' x\n'.repeat(700_000)}`,
  '2 MB of blank lines': `T\n\n${'\n'.repeat(2_000_000)}Key: v\n`,
  '2 MB of spaces': `T\n\nKey: v\n${' '.repeat(2_000_000)}`,
  'one line of 2 MB that is all key': `T\n\n${'a'.repeat(2_000_000)}`,
  '2 MB of comments': `T\n\nKey: v\n${'# c\n'.repeat(500_000)}`,
  '2 MB of lines of spaces': `T\n\n${`${' '.repeat(1_000)}\n`.repeat(2_000)}`,
  'a value of 2 MB of line feeds and blanks': `T\n\nKey: v\n${' \r\t\n'.repeat(500_000)}x`,
})) {
  void test(`${name} are read in linear time`, () => {
    const quarter = Math.max(cost(message.slice(0, message.length / 4)), 20)
    // Four times the text may cost somewhat more than four times as much; in quadratic time it would be sixteen.
    assert.ok(cost(message) < 10 * quarter)
  })
}
