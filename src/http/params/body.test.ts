import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { readBody } from './body.ts'
import { Problem } from '../problems.ts'

const refusalOf = (error: unknown): unknown => {
  if (error instanceof Problem) return [error.status, error.body]
  throw error
}
const read = (text: string | Buffer, type: string | undefined): Promise<unknown> =>
  readBody(Buffer.from(text), type).then((tree) => JSON.parse(JSON.stringify(tree)) as unknown, refusalOf)
const BROKEN = [400, { error: 'message body does not match declared format' }]
const over = (limit: string): unknown => [400, { error: `message body exceeds the limit: ${limit}` }]

const part = (name: string, value: string): string =>
  `--b\r\nContent-Disposition: form-data; name="${name}"\r\n\r\n${value}\r\n`

suite('bodies by media type', () => {
  for (const [what, text, type, tree] of [
    ['nothing, of any type', '', 'image/png', {}],
    ['nothing, of no type', '', undefined, {}],
    ['white space as JSON', ' \n', 'application/json', {}],
    ['null as JSON', 'null', 'application/json', {}],
    [
      'JSON',
      '{"a":[1,null,true,"x",{"b":2.5}]}',
      'application/json',
      { a: [1, null, true, 'x', { b: 2.5 }] },
    ],
    ['JSON with a charset', '{"a":1}', 'application/json; charset=utf-8', { a: 1 }],
    ['JSON in upper case', '{"a":1}', ' Application/JSON ', { a: 1 }],
    ['JSON with a byte order mark', '\uFEFF{"a":1}', 'application/json', { a: 1 }],
    ['the last of equal JSON keys', '{"a":1,"a":2}', 'application/json', { a: 2 }],
    ['a form', 'a=1&b[]=2', 'application/x-www-form-urlencoded', { a: '1', b: ['2'] }],
    [
      'multipart',
      `${part('a', '1')}${part('b[c]', 'ä\r\n')}--b--`,
      'multipart/form-data; boundary=b',
      { a: '1', b: { c: 'ä\r\n' } },
    ],
    ['multipart in quotes', `${part('a', '1')}--b--`, 'multipart/form-data; boundary="b"', { a: '1' }],
    ['an empty multipart', '--b--\r\n', 'multipart/form-data; boundary=b', {}],
  ] as const)
    test(what, async () => assert.deepEqual(await read(text, type), tree))

  for (const type of [
    undefined,
    '',
    'text/plain',
    'text/json',
    'application/vnd.api+json',
    'application/json-patch+json',
    'multipart/mixed; boundary=b',
  ])
    test(`${type ?? 'no type'} is not read`, async () => {
      const name = (type ?? '').split(';')[0] ?? ''
      assert.deepEqual(await read('{}', type), [
        415,
        { error: `The provided content-type '${name}' is not supported.` },
      ])
    })
  for (const [what, text, type] of [
    ['a JSON list', '[]', 'application/json'],
    ['a JSON text', '"a"', 'application/json'],
    ['a JSON number', '1', 'application/json'],
    ['half of JSON', '{"a":', 'application/json'],
    ['JSON closed too often', '{}}', 'application/json'],
    ['only closing brackets', ']]]]', 'application/json'],
    ['an open string', '{"a":"', 'application/json'],
    ['a comment in JSON', '{/**/}', 'application/json'],
    ['JSON in UTF-16', Buffer.from('{}', 'utf16le'), 'application/json'],
    ['JSON that is no UTF-8', Buffer.from([0x7b, 0x22, 0xff, 0x22, 0x3a, 0x31, 0x7d]), 'application/json'],
    ['a form that is no UTF-8', Buffer.from([0x61, 0x3d, 0xff]), 'application/x-www-form-urlencoded'],
    ['multipart without a boundary', '--b--', 'multipart/form-data'],
    ['multipart cut off', part('a', '1'), 'multipart/form-data; boundary=b'],
    ['multipart of another boundary', `${part('a', '1')}--b--`, 'multipart/form-data; boundary=c'],
  ] as const)
    test(`${what} is refused`, async () => assert.deepEqual(await read(text, type), BROKEN))
})

suite('limits of JSON', () => {
  const check = async (text: string): Promise<unknown> => {
    const outcome = await readBody(Buffer.from(text), 'application/json').catch(refusalOf)
    return Array.isArray(outcome) ? outcome : 'read'
  }
  const list = (members: number): string => `[${'1,'.repeat(members - 1)}1]`
  const deep = (levels: number): string => '['.repeat(levels) + ']'.repeat(levels)
  const keys = (count: number): string => Array.from({ length: count }, (_, i) => `"${i}":1`).join(',')

  for (const [what, text, result] of [
    ['32 levels', `{"a":${deep(31)}}`, 'read'],
    ['33 levels', `{"a":${deep(32)}}`, over('32 levels')],
    ['33 levels that never close', `{"a":${'['.repeat(32)}`, over('32 levels')],
    [
      'many levels, one after the other',
      `{"a":[${Array.from({ length: 50 }, () => deep(30)).join(',')}]}`,
      'read',
    ],
    ['50,000 members', `{"a":${list(50_000)}}`, 'read'],
    ['50,001 members', `{"a":${list(50_001)}}`, over('50000 members')],
    ['50,000 keys', `{${keys(50_000)}}`, 'read'],
    ['50,001 keys', `{${keys(50_001)}}`, over('50000 members')],
    // A new list has a count of its own.
    ['two lists of 40,000', `{"a":${list(40_000)},"b":${list(40_000)}}`, 'read'],
    [
      'three lists of 40,000',
      `{"a":${list(40_000)},"b":${list(40_000)},"c":${list(40_000)}}`,
      over('100000 elements'),
    ],
    // Brackets and commas in strings are letters, whatever is escaped around them.
    ['brackets in a string', `{"a":"${'['.repeat(100)}${','.repeat(60_000)}"}`, 'read'],
    ['brackets behind an escaped quote', String.raw`{"a":"\"${'['.repeat(100)}","b":"\\"}`, 'read'],
    ['brackets behind an escaped backslash and quote', String.raw`{"a":"\\\"${'['.repeat(100)}"}`, 'read'],
    [
      'brackets behind a string that ends in a backslash',
      String.raw`{"a":"\\","b":${deep(32)}}`,
      over('32 levels'),
    ],
  ] as const)
    test(what, async () => assert.deepEqual(await check(text), result))

  test('a body of a megabyte in escapes is walked once', { timeout: 5_000 }, async () => {
    const text = `{"a":"${String.raw`\\`.repeat(250_000)}${String.raw`\"`.repeat(250_000)}"}`
    const { a } = await readBody(Buffer.from(text), 'application/json')
    assert.equal((a as string).length, 500_000)
  })
})
