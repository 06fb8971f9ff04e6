import assert from 'node:assert/strict'
import type { Socket } from 'node:net'
import { suite, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { gzipSync } from 'node:zlib'
import type { Someone } from '../support/makers.ts'
import { contents, sharedWorld } from '../support/stand.ts'
import { bodyOf, listen, request, speak } from '../support/wire.ts'

const LIMIT = 200_000
let port: number
let maintainer: Someone
let labels: string

const world = sharedWorld(
  async ({ app, make }) => {
    const group = await make.group({ visibility: 'public', path: 'open' })
    maintainer = await make.memberOf('maintainer', { group })
    labels = `/api/v4/groups/${group.id}/labels`
    port = await listen(app)
  },
  { server: { headersTimeout: 500, requestTimeout: 1_000, bodyLimit: LIMIT } },
)

const LABEL = '{"name":"bug","color":"red"}'
const signed = (headers: Record<string, string> = {}): Record<string, string> => ({
  'PRIVATE-TOKEN': maintainer.token,
  'Content-Type': 'application/json',
  ...headers,
})

/** The server answers once, in those words, hangs up, keeps serving others, and nothing was written. */
async function refuses(write: Parameters<typeof speak>[1], status: number, body: string): Promise<void> {
  const before = await contents(world())
  const heard = await speak(port, write)
  assert.deepEqual(heard.statuses, [status], heard.text)
  assert.equal(bodyOf(heard), body)
  assert.equal(heard.closed, true, 'the connection is closed')
  assert.equal(await contents(world()), before)
  assert.deepEqual((await speak(port, request('GET /api/v4/groups'))).statuses, [200])
}

const dribble =
  (text: string, pause: number) =>
  async (socket: Socket): Promise<void> => {
    for (const byte of text) {
      if (socket.destroyed || !socket.writable) return
      socket.write(byte)
      await sleep(pause)
    }
  }

suite('bodies', () => {
  // One byte too many, announced and sent.
  test('GEN-07: a body one byte over the limit is 413', () =>
    refuses(
      request(`POST ${labels}`, signed({ 'Content-Length': String(LIMIT + 1) }), ' '.repeat(LIMIT + 1)),
      413,
      '{"error":"Request Entity Too Large"}',
    ))
  test('GEN-07: a body of exactly the limit is read', async () => {
    const body = LABEL.padEnd(LIMIT)
    const heard = await speak(
      port,
      request(`POST ${labels}`, signed({ 'Content-Length': String(LIMIT) }), body),
    )
    assert.deepEqual(heard.statuses, [201], heard.text)
  })

  // A chunked body says nowhere how long it will be, and this one never ends.
  test('GEN-07: a chunked body without end is cut at the limit', async () => {
    const chunk = `4000\r\n${' '.repeat(0x4000)}\r\n`
    let sent = 0
    await refuses(
      async (socket) => {
        socket.write(request(`POST ${labels}`, signed({ 'Transfer-Encoding': 'chunked' })))
        for (; sent < 1_000 && !socket.destroyed && socket.writable; sent++) {
          socket.write(chunk)
          await sleep(1)
        }
      },
      413,
      '{"error":"Request Entity Too Large"}',
    )
    assert.ok(sent < 1_000, 'the server hung up while the body went on')
  })

  // Ten kilobytes that unpack to ten megabytes.
  for (const encoding of ['gzip', 'deflate', 'br', 'gzip, identity', 'GZIP'])
    test(`GEN-08: a body in ${encoding} is 415`, async () => {
      const bomb = gzipSync(Buffer.alloc(10_000_000, ' '))
      const headers = signed({ 'Content-Encoding': encoding, 'Content-Length': String(bomb.length) })
      await refuses(
        Buffer.concat([Buffer.from(request(`POST ${labels}`, headers)), bomb]),
        415,
        '{"error":"Compressed request bodies are not supported."}',
      )
    })
  test('GEN-05: a body without a media type is not read', () =>
    refuses(
      request(`POST ${labels}`, { 'PRIVATE-TOKEN': maintainer.token, 'Content-Length': '2' }, '{}'),
      415,
      `{"error":"The provided content-type '' is not supported."}`,
    ))
})

suite('slow clients', () => {
  // A few hundred of these hold every connection a server has.
  test('GEN-09: headers that come byte by byte are 408', () =>
    refuses(dribble(request('GET /api/v4/groups'), 100), 408, '{"error":"408 Request Timeout"}'))
  test('GEN-09: a body that comes byte by byte is 408', () =>
    refuses(
      async (socket) => {
        socket.write(request(`POST ${labels}`, signed({ 'Content-Length': '500' })))
        await dribble(' '.repeat(500), 100)(socket)
      },
      408,
      '{"error":"408 Request Timeout"}',
    ))
  test('GEN-09: others are served while slow clients hang on', async () => {
    const slow = Array.from({ length: 50 }, () => speak(port, dribble(request('GET /api/v4/groups'), 100)))
    assert.deepEqual((await speak(port, request('GET /api/v4/groups'))).statuses, [200])
    for (const { statuses } of await Promise.all(slow)) assert.deepEqual(statuses, [408])
  })

  // An aborted body is no sign that the database is unavailable.
  test('a client that goes away while sending is no trouble of the server', async () => {
    const { logs } = world()
    logs.length = 0
    await speak(
      port,
      async (socket) => {
        socket.write(request(`POST ${labels}`, signed({ 'Content-Length': '500' }), '{"na'))
        await sleep(100)
        socket.destroy()
      },
      500,
    )
    assert.deepEqual((await speak(port, request('GET /api/v4/groups'))).statuses, [200])
    assert.deepEqual(
      logs.filter((line) => (JSON.parse(line) as { level: number }).level > 30),
      [],
    )
  })
})

suite('requests that two servers read differently', () => {
  const bad = '{"error":"400 Bad Request"}'
  const head = (lines: string[]): string =>
    [
      `POST ${labels} HTTP/1.1`,
      'Host: x',
      `PRIVATE-TOKEN: ${maintainer.token}`,
      'Content-Type: application/json',
      ...lines,
    ].join('\r\n')
  const hidden = 'GET /api/v4/namespaces HTTP/1.1\r\nHost: x\r\n\r\n'

  // A proxy believes one length, the server the other, and what is between becomes somebody's next request.
  for (const [what, lines, body] of [
    ['both a length and chunks', ['Content-Length: 5', 'Transfer-Encoding: chunked'], `0\r\n\r\n${hidden}`],
    ['two lengths', ['Content-Length: 2', 'Content-Length: 40'], `{}${hidden}`],
    ['two lengths in one line', ['Content-Length: 2, 40'], `{}${hidden}`],
    ['a length with a sign', ['Content-Length: +2'], `{}${hidden}`],
    ['a chunk size that is no number', ['Transfer-Encoding: chunked'], `zz\r\n{}\r\n0\r\n\r\n${hidden}`],
    ['a chunk longer than its size', ['Transfer-Encoding: chunked'], `1\r\n{}\r\n0\r\n\r\n${hidden}`],
    [
      'a chunk size beyond any number',
      ['Transfer-Encoding: chunked'],
      `fffffffffffffffff\r\n{}\r\n0\r\n\r\n`,
    ],
    [
      'chunks that are not the last coding',
      ['Transfer-Encoding: chunked, gzip'],
      `2\r\n{}\r\n0\r\n\r\n${hidden}`,
    ],
    ['a blank before the colon', ['Content-Length : 2'], `{}${hidden}`],
    ['a folded header', ['X: a', ' b', 'Content-Length: 2'], '{}'],
    ['a NUL in a header', ['X: a\0b', 'Content-Length: 2'], '{}'],
  ] as const)
    test(`GEN-21: ${what}`, () => refuses(`${head([...lines])}\r\n\r\n${body}`, 400, bad))
  test('GEN-21: lines ended by LF alone', () => refuses(`GET /api/v4/groups HTTP/1.1\nHost: x\n\n`, 400, bad))
  test('GEN-21: a bad chunk after a good one', () =>
    refuses(
      async (socket) => {
        socket.write(
          `${head(['Transfer-Encoding: chunked'])}\r\n\r\n${LABEL.length.toString(16)}\r\n${LABEL}\r\n`,
        )
        await sleep(50)
        socket.write('zz\r\n')
      },
      400,
      bad,
    ))
})
