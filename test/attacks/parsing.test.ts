import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { operations } from '../../src/areas/index.ts'
import type { NamedOperation } from '../../src/http/operation.ts'
import type { Someone } from '../support/makers.ts'
import { rowsOf } from '../support/rows.ts'
import { contents, sharedWorld } from '../support/stand.ts'
import type { Answered } from '../support/world.ts'

let maintainer: Someone
let labels: string

const world = sharedWorld(async ({ make }) => {
  const group = await make.group()
  maintainer = await make.memberOf('maintainer', { group })
  labels = `/groups/${group.id}/labels`
})

const JSON_TYPE = 'application/json'
const FORM_TYPE = 'application/x-www-form-urlencoded'

const post = (body: string, type = JSON_TYPE): Promise<Answered> =>
  world().call('POST', labels, { as: maintainer, body, headers: { 'content-type': type } })

async function refusedWhole(body: string, status: number, text: string, type = JSON_TYPE): Promise<void> {
  const before = await contents(world())
  const answer = await post(body, type)
  assert.equal(answer.text, text)
  assert.equal(answer.status, status)
  assert.equal(await contents(world()), before)
}

const nested = (levels: number): string => '{"x":'.repeat(levels - 1) + '{}' + '}'.repeat(levels - 1)
const many = (count: number, item: string): string => Array.from({ length: count }, () => item).join(',')

suite('JSON that costs more to read than to send', () => {
  // Sends a body one level deeper than allowed to each route whose body is parameters. Uploads are bytes, and
  // inbound operations parse what programs send within limits of their own.
  const takesParams = ({ method, inbound, receives }: NamedOperation): boolean =>
    method !== 'GET' && inbound === undefined && receives === undefined
  for (const op of operations.filter(takesParams))
    test(`GEN-01: ${op.name} refuses JSON nested 33 deep`, async () => {
      const path = op.path.replaceAll(/:\w+/g, '1')
      const answer = await world().call(op.method, path, {
        body: nested(33),
        headers: { 'content-type': JSON_TYPE },
      })
      assert.equal(answer.text, '{"error":"message body exceeds the limit: 32 levels"}')
      assert.equal(answer.status, 400)
    })

  // The honest neighbour: 32 levels are read, and the fault found is the missing parameter.
  test('GEN-01: JSON nested 32 deep is read', async () => {
    assert.equal((await post(nested(32))).text, '{"error":"name is missing, color is missing"}')
  })

  // 400 kB of brackets, which the parser takes and whoever walks the result does not survive.
  test('GEN-02: 200,000 nested arrays are refused unparsed', async () => {
    const deep = '['.repeat(200_000) + ']'.repeat(200_000)
    await refusedWhole(deep, 400, '{"error":"message body exceeds the limit: 32 levels"}')
    await refusedWhole('['.repeat(200_000), 400, '{"error":"message body exceeds the limit: 32 levels"}')
  })

  // Flat and wide instead of deep.
  test('GEN-03: arrays and objects past 50,000 members are refused', async () => {
    const text = '{"error":"message body exceeds the limit: 50000 members"}'
    await refusedWhole(`{"x":[${many(50_001, '1')}]}`, 400, text)
    const keys = Array.from({ length: 50_001 }, (_, i) => `"k${i}":1`).join(',')
    await refusedWhole(`{${keys}}`, 400, text)
  })

  // Many small lists, each within its limit.
  test('GEN-03: more than 100,000 elements in all are refused', async () => {
    const list = `[${many(40_000, '1')}]`
    const text = '{"error":"message body exceeds the limit: 100000 elements"}'
    await refusedWhole(`{"a":${list},"b":${list},"c":${list}}`, 400, text)
  })

  // Each empty object is two bytes on the wire and a hundred in memory.
  test('GEN-04: 300,000 empty objects are refused', async () => {
    const text = '{"error":"message body exceeds the limit: 100000 elements"}'
    await refusedWhole(`{"x":[${many(300_000, '{}')}]}`, 400, text)
  })

  // Brackets inside strings are letters, however many quotes are escaped before them.
  test('GEN-04: brackets in strings count for nothing', async () => {
    const name = String.raw`\\\"` + '['.repeat(500)
    const answer = await post(`{"name":"${name}","color":"nope"}`)
    assert.deepEqual(answer.body, {
      message: { title: ['is too long (maximum is 255 characters)'], color: ['must be a valid color code'] },
    })
  })

  // The limiter looks at one media type and the parser takes another.
  for (const type of ['application/vnd.api+json', 'text/json', 'text/plain', 'application/jsonp'])
    test(`GEN-05: ${type} is not read at all`, async () => {
      const text = `{"error":"The provided content-type '${type}' is not supported."}`
      await refusedWhole(nested(33), 415, text, `${type}; charset=x`)
    })
  test('GEN-05: an upper-case media type has the same limits', async () => {
    const text = '{"error":"message body exceeds the limit: 32 levels"}'
    await refusedWhole(nested(33), 400, text, 'APPLICATION/JSON;charset=utf-7')
  })

  // Deep JSON inside a form field or the query is the text it is, never parsed.
  test('GEN-06: JSON as the text of a form field stays text', async () => {
    const deep = '['.repeat(100) + ']'.repeat(100)
    const answer = await post(`name=${encodeURIComponent(deep)}&color=red`, FORM_TYPE)
    assert.equal(answer.status, 201, answer.text)
    assert.equal((answer.body as { name: string }).name, deep)
    const found = await world().get(`${labels}?search=${encodeURIComponent('[[[[')}`, maintainer)
    assert.deepEqual(
      (found.body as { name: string }[]).map(({ name }) => name),
      [deep],
    )
  })
})

suite('forms that cost more to read than to send', () => {
  // One name 49,000 times over took more than a minute when every repetition copied those before it.
  test('a parameter repeated 49,000 times is read in one pass', { timeout: 20_000 }, async () => {
    const text = '{"error":"name is missing, color is missing"}'
    await refusedWhole('x=1&'.repeat(49_000), 400, text, FORM_TYPE)
    await refusedWhole('x[][y]=1&'.repeat(49_000), 400, text, FORM_TYPE)
  })
  test('a form of 50,001 parameters is refused', async () => {
    const text = '{"error":"message body exceeds the limit: 50000 parameters"}'
    await refusedWhole('x=1&'.repeat(50_001), 400, text, FORM_TYPE)
    const part = '--b\r\nContent-Disposition: form-data; name="x"\r\n\r\n\r\n'
    await refusedWhole(
      `${part.repeat(15_000)}--b--`,
      400,
      '{"error":"name is missing, color is missing"}',
      'multipart/form-data; boundary=b',
    )
  })
  test('a form name nested 33 deep is refused', async () => {
    const text = '{"error":"message body exceeds the limit: 32 levels"}'
    await refusedWhole(`a${'[b]'.repeat(32)}=1`, 400, text, FORM_TYPE)
    await refusedWhole(`a${'[]'.repeat(100_000)}=1`, 400, text, FORM_TYPE)
  })
})

suite('bodies that are not what they say', () => {
  const broken = '{"error":"message body does not match declared format"}'
  for (const body of ['{"name":"a"', '[]', '"text"', '{"name":}', 'NaN', '{"a":1}{"b":2}', "{'a':1}"])
    test(`JSON \`${body}\` is refused`, () => refusedWhole(body, 400, broken))
  test('a multipart body that ends early, or has no boundary, is refused', async () => {
    const part = '--b\r\nContent-Disposition: form-data; name="name"\r\n\r\nx'
    await refusedWhole(part, 400, broken, 'multipart/form-data; boundary=b')
    await refusedWhole(part, 400, broken, 'multipart/form-data')
  })

  test('an empty media type is as good as none', async () => {
    for (const headers of [{ 'content-type': '' }, { 'content-type': ' ' }, {}])
      for (const [method, path] of [
        ['POST', '/personal_access_tokens/self/rotate'],
        ['GET', '/user'],
      ] as const) {
        const as = await world().make.user()
        assert.equal((await world().call(method, path, { as, headers })).status, 200, path)
      }
  })

  // JSON.parse makes `__proto__` an own key, a form parser's `a[__proto__][x]` may make it the real one.
  test('GEN-10: names of Object.prototype are names like others', async () => {
    const bodies: [string, string][] = [
      [
        JSON_TYPE,
        '{"__proto__":{"polluted":1},"constructor":{"prototype":{"polluted":1}},"name":"p1","color":"red"}',
      ],
      [
        FORM_TYPE,
        'a[__proto__][polluted]=1&__proto__[polluted]=1&constructor[prototype][polluted]=1&name=p2&color=red',
      ],
      [FORM_TYPE, '__proto__[name]=evil&__proto__[color]=red&name=p3&color=red'],
    ]
    for (const [type, body] of bodies) assert.equal((await post(body, type)).status, 201)
    const query = '__proto__[polluted]=1&constructor[prototype][polluted]=1&toString=1&hasOwnProperty=1'
    assert.equal((await world().get(`${labels}?${query}`, maintainer)).status, 200)
    assert.equal(Reflect.has({}, 'polluted'), false)
    assert.deepEqual(await rowsOf(world(), `select title from labels where title like 'p_' order by 1`), [
      { title: 'p1' },
      { title: 'p2' },
      { title: 'p3' },
    ])
  })
  test('GEN-10: a prototype gives no parameter that was not sent', () =>
    refusedWhole(
      '__proto__[name]=evil&__proto__[color]=red',
      400,
      '{"error":"name is missing, color is missing"}',
      FORM_TYPE,
    ))

  // Text that PostgreSQL cannot store must not reach it.
  for (const [what, body] of [
    ['a NUL', String.raw`{"name":"a\u0000b","color":"red"}`],
    ['half a surrogate pair', String.raw`{"name":"a\ud800b","color":"red"}`],
    ['the other half', String.raw`{"name":"\udc00","color":"red"}`],
  ] as const)
    test(`GEN-15, GEN-16: ${what} in JSON is refused by name`, () =>
      refusedWhole(body, 400, '{"error":"name is invalid"}'))
  test('GEN-15: a NUL in a form is refused by name', async () => {
    await refusedWhole('name=a%00b&color=red', 400, '{"error":"name is invalid"}', FORM_TYPE)
    const part = '--b\r\nContent-Disposition: form-data; name="name"\r\n\r\na\0b\r\n--b--\r\n'
    await refusedWhole(
      part,
      400,
      '{"error":"name is invalid, color is missing"}',
      'multipart/form-data; boundary=b',
    )
  })
  test('GEN-16: bytes that are not UTF-8 are refused', async () => {
    await refusedWhole(
      'name=%ff&color=red',
      400,
      '{"error":"message body does not match declared format"}',
      FORM_TYPE,
    )
    const response = await world().app.inject({
      method: 'POST',
      url: `/api/v4${labels}`,
      payload: Buffer.from([...Buffer.from('{"name":"'), 0xff, ...Buffer.from('","color":"red"}')]),
      headers: { 'private-token': maintainer.token, 'content-type': JSON_TYPE },
    })
    assert.equal(response.body, broken)
  })
})
