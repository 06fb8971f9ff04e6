import assert from 'node:assert/strict'
import { test } from 'node:test'
import { emojiName } from './emoji.ts'

test('an emoji has one name, whatever it is called by', () => {
  const rows: [string, string | undefined][] = [
    ['thumbsup', 'thumbsup'],
    ['+1', 'thumbsup'],
    ['-1', 'thumbsdown'],
    ['thumbup_tone3', 'thumbsup_tone3'],
    ['us', 'flag_us'],
    ['slightly_smiling_face', 'slight_smile'],
    ['tractor', 'tractor'],
    ['blowfish', 'blowfish'],
    ['microphone2', 'microphone2'],
    ['tada', 'tada'],
    ['100', '100'],
    ['tada_tone1', undefined],
    ['thumbsup_tone6', undefined],
    [':tada:', undefined],
    ['', undefined],
    ['*', undefined],
    ['constructor', undefined],
    ['no-such-emoji', undefined],
  ]
  assert.deepEqual(
    rows.map(([given]) => emojiName(given)),
    rows.map(([, name]) => name),
  )
})
