import assert from 'node:assert/strict'
import { test } from 'node:test'
import { decodeBase64 } from './file_content.ts'

const decoded = async (text: string): Promise<string | undefined> =>
  (await decodeBase64(Buffer.from(text)))?.toString('latin1')

test('base64 is decoded whole, whatever its length', async () => {
  for (const size of [0, 1, 2, 3, 4, 255, 786_431, 786_432, 786_433, 3_000_000]) {
    const bytes = Buffer.alloc(size, 'añ\0b')
    const text = bytes.toString('base64')
    assert.ok((await decodeBase64(Buffer.from(text)))?.equals(bytes), String(size))
    const broken = text.replaceAll(/.{76}/g, '$&\r\n')
    assert.ok((await decodeBase64(Buffer.from(broken)))?.equals(bytes), `${size} in lines`)
  }
})

test('padding may be left out, and white space stand anywhere', async () => {
  for (const text of ['SGk=', 'SGk', ' S G\tk =\n', 'SGk=\r\n']) assert.equal(await decoded(text), 'Hi', text)
  for (const text of ['SA==', 'SA', 'S A = =']) assert.equal(await decoded(text), 'H', text)
  assert.equal(await decoded('   '), '')
})

test('invalid base64 is refused whole', async () => {
  for (const text of [
    'S',
    'SGk!',
    'SGk==',
    'SG=k',
    '=',
    '====',
    'SGVsbG8-',
    'SGVsbG8_',
    'SGkSG',
    'é',
    'SGk=SGk=',
  ])
    assert.equal(await decoded(text), undefined, text)
})
