import assert from 'node:assert/strict'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { after, afterEach, beforeEach, test } from 'node:test'
import { gzipSync } from 'node:zlib'
import { setSetting } from '../../core/settings/settings.ts'
import type { Project } from '../../db/schema/tables.ts'
import { openEngine, send, useEngine, type AnalyticsEngine } from '../../../test/support/analytics_engine.ts'
import type { Someone } from '../../../test/support/makers.ts'
import { sharedWorld } from '../../../test/support/stand.ts'

// The engine is another server: whatever it does, the answer is the published one, and costs no more than the limits.

const LIMITS = { timeout_ms: 2_000, max_bytes: 50_000, failures: 1_000, open_ms: 1 }

let engine: AnalyticsEngine
let project: Project
let developer: Someone
const world = sharedWorld(
  async (here) => {
    engine = await openEngine()
    project = await here.make.project({ group: await here.make.group() })
    developer = await here.make.memberOf('developer', { project })
  },
  { outbound: LIMITS },
)
beforeEach(() => useEngine(world(), engine))
afterEach(() => {
  engine.behave()
  engine.requests.length = 0
})
after(() => engine.close())

async function ask(operation: 'load' | 'dry-run' | 'meta' = 'load'): Promise<[number, unknown]> {
  const path = `/projects/${project.id}/product_analytics/request/${operation}`
  const body = operation === 'meta' ? {} : { query: { measures: ['TrackedEvents.count'] } }
  const answered = await world().call('POST', path, { as: developer, body })
  return [answered.status, answered.body]
}
const badGateway = (message: string): [number, unknown] => [502, { message }]

test('an engine that does not respond in time is a bad gateway', async () => {
  engine.behave(() => {})
  for (const operation of ['load', 'dry-run', 'meta'] as const)
    assert.deepEqual(await ask(operation), badGateway('Request timed out after 2 seconds'))
})

test('the time runs on while an engine sends byte by byte', async () => {
  engine.behave((_, response) => {
    const timer = setInterval(() => response.write(' '), 20)
    response.on('close', () => clearInterval(timer))
  })
  assert.deepEqual(await ask(), badGateway('Request timed out after 2 seconds'))
})

test('a response that does not end is cut off at the limit of bytes, and its connection closed', async () => {
  let sent = 0
  let onClosed = (): void => {}
  const closed = new Promise<void>((resolve) => (onClosed = resolve))
  engine.behave((_, response) => {
    const chunk = Buffer.alloc(10_000, 0x20)
    const pump = (): void => {
      if (response.destroyed) return
      sent += chunk.length
      response.write(chunk, () => setImmediate(pump))
    }
    response.on('close', onClosed)
    pump()
  })
  assert.deepEqual(await ask(), badGateway('The response is larger than 50000 bytes'))
  await closed
  assert.ok(sent > LIMITS.max_bytes)
})

test('a response that announces too many bytes is not read', async () => {
  engine.behave((_, response) => {
    response.writeHead(200, { 'content-length': '50001' })
    response.write('{')
  })
  assert.deepEqual(await ask(), badGateway('The response is larger than 50000 bytes'))
})

test('a redirect is not followed', async () => {
  engine.behave((_, response) => {
    response.writeHead(307, { location: `${engine.url}/elsewhere` })
    response.end('{}')
  })
  assert.deepEqual(await ask(), badGateway('The analytics engine responded with status 307'))
  assert.deepEqual(
    engine.requests.map(({ path }) => path),
    ['/cubejs-api/v1/load'],
  )
})

test('a private address is not connected to unless the setting allows it', async () => {
  const { db, settings } = world().opened.instance
  await setSetting(db, 'allow_local_requests_from_web_hooks_and_services', false)
  const before = engine.connections()
  const port = new URL(engine.url).port
  for (const host of ['127.0.0.1', 'localhost', '[::ffff:127.0.0.1]', '2130706433']) {
    await setSetting(db, 'analytics_api_base_url', `http://${host}:${port}`)
    await settings.reload()
    assert.deepEqual(
      await ask(),
      badGateway('URL is blocked: Requests to the local network are not allowed'),
      host,
    )
  }
  assert.equal(engine.connections(), before)
})

test('an engine that is not there, not known, or hangs up is a bad gateway', async () => {
  const closed = createServer()
  await new Promise<void>((resolve) => closed.listen(0, '127.0.0.1', resolve))
  const { port } = closed.address() as AddressInfo
  await new Promise((resolve) => closed.close(resolve))
  await useEngine(world(), { url: `http://127.0.0.1:${port}` })
  assert.deepEqual(await ask(), badGateway('Connection refused'))
  await useEngine(world(), { url: 'http://no-such-host.invalid' })
  assert.deepEqual(await ask(), badGateway('getaddrinfo: Name or service not known'))
  await useEngine(world(), engine)
  engine.behave((_, response) => void response.destroy())
  assert.deepEqual(await ask(), badGateway('Connection reset by peer'))
})

test('requests reuse one connection, and no transaction stands open while they wait', async () => {
  await ask()
  const before = engine.connections()
  let open = ''
  engine.behave((_, response) => {
    const busy = `select count(*) from pg_stat_activity where datname = current_database() and state like 'idle in transaction%'`
    void world()
      .opened.client.pool.query<{ count: string }>(busy)
      .then(({ rows }) => {
        open = String(rows[0]?.count)
        return send(response, 200, '{}')
      })
  })
  for (let i = 0; i < 5; i++) assert.deepEqual(await ask(), [200, {}])
  assert.deepEqual([engine.connections(), open], [before, '0'])
})

test('engine failures are logged with their origin, without key, token or query', async () => {
  world().logs.length = 0
  engine.behave((_, response) => void response.destroy())
  await ask()
  const line = world().logs.find((one) => one.includes('outbound request')) ?? ''
  assert.equal((JSON.parse(line) as { origin: string }).origin, engine.url)
  const authorization = String(engine.requests.at(-1)?.headers.authorization)
  for (const secret of [authorization, 'TrackedEvents']) assert.ok(!line.includes(secret))
})

/** Answers on the socket itself. */
const speaking =
  (text: string | Buffer, isEnd = true): Parameters<AnalyticsEngine['behave']>[0] =>
  (_, response) => {
    const socket = response.socket
    socket?.write(text)
    if (isEnd) socket?.end()
  }

test('a response that breaks the protocol or ends early is a bad gateway', async () => {
  for (const [text, reason] of [
    ['HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\n{"results":[]}', 'Connection reset by peer'],
    ['HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n5\r\n{"a"', 'Connection reset by peer'],
    ['HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\nzz\r\n{}', 'The connection failed'],
    ['nonsense\r\n\r\n', 'The connection failed'],
    [`HTTP/1.1 200 OK\r\nx: ${'x'.repeat(100_000)}\r\n\r\n{}`, 'The connection failed'],
    ['HTTP/1.1 200 OK\r\ncontent-length: 2\r\ncontent-length: 3\r\n\r\n{}', 'The connection failed'],
    [
      'HTTP/1.1 101 Switching Protocols\r\nconnection: upgrade\r\nupgrade: x\r\n\r\n',
      'Connection reset by peer',
    ],
  ] as const) {
    engine.behave(speaking(text))
    assert.deepEqual(await ask(), badGateway(reason), text.slice(0, 60))
  }
})

test('the time runs on while an engine sends its headers byte by byte', async () => {
  engine.behave((_, response) => {
    const { socket } = response
    socket?.write('HTTP/1.1 200 OK\r\nx: ')
    const timer = setInterval(() => socket?.write('x'), 20)
    socket?.on('close', () => clearInterval(timer))
    socket?.on('error', () => {})
  })
  assert.deepEqual(await ask(), badGateway('Request timed out after 2 seconds'))
})

test('a packed response that was not asked for is no JSON', async () => {
  engine.behave((_, response) => {
    response.writeHead(200, { 'content-encoding': 'gzip', 'content-type': 'application/json' })
    response.end(gzipSync(Buffer.alloc(100_000, 0x20)))
  })
  assert.deepEqual(await ask(), badGateway('The analytics engine did not respond with JSON'))
})

test('headers of the engine are not passed on', async () => {
  engine.behave((_, response) => {
    response.writeHead(200, { 'set-cookie': 'a=b', 'x-evil': '1', 'content-type': 'text/html' })
    response.end('{"html": "<script>"}')
  })
  const path = `/projects/${project.id}/product_analytics/request/meta`
  const { headers, body } = await world().get(path, developer)
  assert.deepEqual(
    [headers['set-cookie'], headers['x-evil'], headers['content-type'], body],
    [undefined, undefined, 'application/json', { html: '<script>' }],
  )
})

test('answers of unexpected shapes pass as they are', async () => {
  for (const body of [
    '{"results":[null,1,"x",[],{"data":null},{"data":[null,1,{}]}],"cubes":[null,1,[],{}]}',
    '{"data":[null]}',
    '{"data":"x","results":{}}',
    '{"results":null}',
    '{"__proto__":{"a":1},"constructor":null}',
  ]) {
    engine.behave((_, response) => send(response, 200, body))
    const filter = {
      member: 'TrackedEvents.utcTime',
      operator: 'inDateRange',
      values: ['2026-01-01', '2026-01-03'],
    }
    const query = { measures: ['TrackedEvents.count'], filters: [null, filter] }
    const path = `/projects/${project.id}/product_analytics/request/load`
    const answered = await world().call('POST', path, {
      as: developer,
      body: { query: { ...query, filters: [filter] } },
    })
    assert.deepEqual([answered.status, answered.text], [200, body])
    const refused = await world().call('POST', path, { as: developer, body: { query } })
    assert.equal(refused.status, 400)
    const [status] = await ask('meta')
    assert.equal(status, 200)
  }
})

test('a query that is nested deeply is refused and never sent', async () => {
  const levels = 20_000
  const filters = `${'[{"or":'.repeat(levels)}[]${'}]'.repeat(levels)}`
  const path = `/projects/${project.id}/product_analytics/request/load`
  const answered = await world().call('POST', path, {
    as: developer,
    body: `{"query":{"filters":${filters}}}`,
    headers: { 'content-type': 'application/json' },
  })
  assert.equal(answered.status, 400)
  assert.equal(engine.requests.length, 0)
})
