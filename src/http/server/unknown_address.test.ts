import assert from 'node:assert/strict'
import { once } from 'node:events'
import { connect } from 'node:net'
import type { AddressInfo } from 'node:net'
import { test } from 'node:test'
import { pino } from 'pino'
import { createServer } from './server.ts'

const silent = { logger: pino({ level: 'silent' }), isAway: () => false }

test('an unknown address is 404 whatever its body is', async () => {
  const app = createServer({ ...silent, bodyLimit: 100 })
  for (const [type, payload] of [
    ['application/x-unknown', 'x'],
    ['application/json', '{'],
    ['application/json', JSON.stringify('x'.repeat(1_000))],
  ] as const)
    for (const method of ['POST', 'PUT', 'DELETE'] as const) {
      const answer = await app.inject({
        method,
        url: '/api/v4/nothing',
        payload,
        headers: { 'content-type': type },
      })
      assert.deepEqual([answer.statusCode, answer.body], [404, '{"error":"404 Not Found"}'])
    }
})

test('an unknown method of an address is 405 whatever its body is', async () => {
  const app = createServer({ ...silent, allowed: () => 'GET, HEAD' })
  const { statusCode, headers } = await app.inject({
    method: 'POST',
    url: '/api/v4/version',
    payload: 'x',
    headers: { 'content-type': 'application/x-unknown' },
  })
  assert.deepEqual([statusCode, headers.allow], [405, 'GET, HEAD'])
})

test('a connection is closed when the body of a refused request does not arrive in time', async (t) => {
  const app = createServer({ ...silent, requestTimeout: 200 })
  await app.listen({ host: '127.0.0.1', port: 0 })
  t.after(() => app.close())
  const { port } = app.server.address() as AddressInfo
  const socket = connect(port, '127.0.0.1').setEncoding('utf8')
  socket.write('POST /nothing HTTP/1.1\r\nHost: x\r\nContent-Length: 10\r\n\r\nhalf')
  const heard: string[] = []
  socket.on('data', (text: string) => heard.push(text))
  await once(socket, 'close')
  assert.match(heard.join(''), /^HTTP\/1\.1 404 .*\{"error":"404 Not Found"\}$/s)
})
