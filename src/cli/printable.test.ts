import assert from 'node:assert/strict'
import { test } from 'node:test'
import { oneLine, printable } from './printable.ts'

test('control characters and direction marks are written as escapes; line ends and tabs stay', () => {
  const rows: [string, string][] = [
    ['plain ümläut 🎉\n\tnext', 'plain ümläut 🎉\n\tnext'],
    ['a\r\nb', 'a\r\nb'],
    ['ok\rgone', 'ok\\u000dgone'],
    ['\u001b[2J\u001b]0;x\u0007', '\\u001b[2J\\u001b]0;x\\u0007'],
    ['\u009b1m\u007f\u0000', '\\u009b1m\\u007f\\u0000'],
    ['a\u202egnp.exe\u2066', 'a\\u202egnp.exe\\u2066'],
  ]
  for (const [given, shown] of rows) assert.equal(printable(given), shown)
})

test('a line of a list is one line', () => {
  assert.equal(oneLine(' Down\n#2  critical\u2028x\t'), 'Down #2 critical x')
})
