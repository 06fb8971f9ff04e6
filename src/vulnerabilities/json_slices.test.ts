import assert from 'node:assert/strict'
import { test } from 'node:test'
import { NotJson, readSlices, type Choice, type JsonPath } from './json_slices.ts'

async function* chunked(text: string, size: number): AsyncGenerator<Uint8Array> {
  const bytes = Buffer.from(text)
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size)
}
const inList = (path: JsonPath): Choice =>
  path.length === 0 || (path.length === 1 && path[0] === 'list')
    ? 'enter'
    : path[0] === 'list'
      ? 'take'
      : 'skip'
async function slices(text: string, size = 7, limit = 1_000): Promise<[string, unknown][]> {
  const found: [string, unknown][] = []
  for await (const { path, value, tooLarge } of readSlices(chunked(text, size), inList, limit))
    found.push([path.join('.'), tooLarge ? 'too large' : value])
  return found
}

test('values are cut out of a document, however it is split into chunks', async () => {
  const list = [{ a: '}]"\\' }, [1, [2]], 'ü, "x"', -1.5e3, true, null, {}]
  const text = `\uFEFF ${JSON.stringify({ skip: { list: ['\\"]'] }, list, after: 'x' }, null, 1)} \n`
  const wanted = list.map((value, at) => [`list.${at}`, value])
  for (let size = 1; size < 40; size += 1) assert.deepEqual(await slices(text, size), wanted)
})

test('members of an object are named by their keys', async () => {
  assert.deepEqual(await slices('{"list": {"a\\u0062": 1, "": 2}}'), [
    ['list.ab', 1],
    ['list.', 2],
  ])
  assert.deepEqual(await slices('{"list": []}'), [])
  assert.deepEqual(await slices('{"list": 3}'), [])
})

test('a value above the limit is passed over, and what follows is read', async () => {
  const text = JSON.stringify({ list: ['x'.repeat(100), 'y'] })
  assert.deepEqual(await slices(text, 7, 50), [
    ['list.0', 'too large'],
    ['list.1', 'y'],
  ])
})

test('a document that is not JSON is refused', async () => {
  const bad = [
    '',
    '{',
    '{"list": [',
    '{"list": [1',
    '{"list": [1]',
    '{"list": [1,]}',
    '{"list": [nope]}',
    '[1] [2]',
    '{"list": [{"a" 1}]}',
    '{list: 1}',
    '{"list": [1}}',
    '{"a": 1,}',
    '{"list"}',
    'hello',
    '{"list": [1 2]}',
  ]
  for (const text of bad) await assert.rejects(slices(text), NotJson, text)
})
