import assert from 'node:assert/strict'
import { test } from 'node:test'
import { NotJson, readSlices, type Choice, type JsonPath } from './json_slices.ts'

async function* chunked(text: string | Buffer, size: number): AsyncGenerator<Uint8Array> {
  const bytes = Buffer.from(text as string)
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size)
}
const inList = (path: JsonPath): Choice =>
  path.length === 0 || (path.length === 1 && path[0] === 'list')
    ? 'enter'
    : path[0] === 'list'
      ? 'take'
      : 'skip'
async function slices(text: string | Buffer, size = 7, limit = 1_000): Promise<[string, unknown][]> {
  const found: [string, unknown][] = []
  for await (const { path, value, fault } of readSlices(chunked(text, size), inList, { limit }))
    found.push([path.join('.'), fault ?? value])
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
    ['list.0', 'larger than 50 bytes'],
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

test('a deeply nested value is passed over without recursion', async () => {
  const nested = (depth: number): string => `${'['.repeat(depth)}${']'.repeat(depth)}`
  const text = `{"list": [${nested(200_000)}, ${nested(101)}, ${nested(100)}], "skip": ${nested(200_000)}}`
  const found = await slices(text, 65_536, 1_000_000)
  assert.deepEqual(
    found.map(([path, value]) => [path, typeof value === 'string' ? value : 'parsed']),
    [
      ['list.0', 'nested deeper than 100 levels'],
      ['list.1', 'nested deeper than 100 levels'],
      ['list.2', 'parsed'],
    ],
  )
})

test('a value that is not UTF-8 is passed over; a key that is not refuses the document', async () => {
  const bytes = (text: string): Buffer => Buffer.from(text, 'latin1')
  assert.deepEqual(await slices(bytes('{"list": ["\xff", "y"]}')), [
    ['list.0', 'not UTF-8'],
    ['list.1', 'y'],
  ])
  await assert.rejects(slices(bytes('{"list": {"\xff": 1}}')), NotJson)
})

test('documents that follow each other are told apart where they are allowed', async () => {
  const text = '{"list": [1]}\n{"list": [2, 3]}{}'
  const found: [number, unknown][] = []
  for await (const { document, value } of readSlices(chunked(text, 5), inList, { limit: 100, many: true }))
    found.push([document, value])
  assert.deepEqual(found, [
    [0, 1],
    [1, 2],
    [1, 3],
  ])
  await assert.rejects(slices(text), NotJson)
})
