import assert from 'node:assert/strict'
import { test } from 'node:test'
import { mentionedIn, referencesIn, withoutCode } from './mention_text.ts'
import { countTasks } from '../../records/conversation/noteable.ts'
import { closingIn } from '../planning/closing_references.ts'
import { parseCommands } from './quick_action_text.ts'

test('code is no talk', () => {
  const rows: [string, string][] = [
    ['a `@b` c', 'a   c'],
    ['a ``@b ` @c`` d', 'a   d'],
    ['a `@b', 'a  @b'],
    ['x\n```\n@a\n```\ny', 'x\ny'],
    ['x\n~~~ ts\n@a\n```\n~~~\ny', 'x\ny'],
    ['x\n```\n@a', 'x'],
  ]
  for (const [text, left] of rows) assert.equal(withoutCode(text), left, text)
})

test('users are called by their names', () => {
  const rows: [string, string[]][] = [
    ['Hello @Ada, and @grace.hopper-1! (@x_y)', ['ada', 'grace.hopper-1', 'x_y']],
    ['ada@example.com, @@ada, a/@b, @all', []],
    ['@harbour/crew/night. and @harbour/: @All', ['harbour/crew/night', 'harbour']],
    ['@ada @ADA @ada. @ada-.-', ['ada']],
    ['@', []],
  ]
  for (const [text, names] of rows) assert.deepEqual(mentionedIn(text), names, text)
})

test('issues and merge requests are named by their numbers', () => {
  const rows: [string, unknown[]][] = [
    [
      'see #1, #1 and !2.',
      [
        ['issue', undefined, 1],
        ['merge_request', undefined, 2],
      ],
    ],
    ['in group/sub/project#3 too', [['issue', 'group/sub/project', 3]]],
    ['a#1 x/#2 &#39; ##4 #5x #0 #99999999999', []],
  ]
  for (const [text, expected] of rows)
    assert.deepEqual(
      referencesIn(text).map(({ kind, path, iid }) => [kind, path, iid]),
      expected,
      text,
    )
})

test('a text of a million signs is heard, whatever they are', () => {
  const parts = [
    '`',
    '``` ',
    '@',
    '@a',
    '#1',
    '!',
    '/',
    '/close\n',
    '> ',
    'a/',
    '/close \u2028',
    ' ',
    ':+1:',
    '@a.',
    '``\n',
    `@a${`/${'.'.repeat(254)}`.repeat(20)}/b `,
    '>>>\n',
    '\n',
    'closes #1, ',
    'fixes a.a.',
    '- [ ] ',
    '> \t-',
  ]
  const known = new Set(['close'])
  for (const part of parts) {
    const text = part.repeat(Math.ceil(1_000_000 / part.length))
    const heard = withoutCode(text)
    assert.ok(mentionedIn(heard).length <= 100)
    assert.ok(referencesIn(heard).length <= 100)
    assert.equal(typeof parseCommands(text, known).text, 'string')
    assert.ok(closingIn(text).length <= 1)
    assert.ok(countTasks(text).count <= 1)
  }
  const runs = Array.from({ length: 1_400 }, (_, i) => '`'.repeat(i + 1)).join('x')
  assert.equal(withoutCode(runs).includes('`'), false)
})
