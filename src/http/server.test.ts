import assert from 'node:assert/strict'
import { Agent, request, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import { once } from 'node:events'
import { PassThrough } from 'node:stream'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { pino } from 'pino'
import { createServer } from './server.ts'

test('a server that closes ends with its last answer, although the client would keep its connection', async (t) => {
  const app = createServer({ logger: pino({ level: 'silent' }), isAway: () => false })
  const answer = new PassThrough()
  app.get('/', (_request, reply) => reply.send(answer))
  await app.listen({ host: '127.0.0.1', port: 0 })
  const agent = new Agent({ keepAlive: true })
  t.after(() => agent.destroy())
  const { port } = app.server.address() as AddressInfo
  answer.write('first ')
  const asked = request({ agent, host: '127.0.0.1', port, path: '/' }).end()
  const [response] = (await once(asked, 'response')) as [IncomingMessage]
  const said = response.setEncoding('utf8').toArray()

  const closed = app.close().then(() => 'closed')
  answer.end('and last')
  assert.equal((await said).join(''), 'first and last')
  // Kept alive it would stay for 72 seconds.
  const patience = sleep(30_000, 'open', { ref: false })
  assert.equal(await Promise.race([closed, patience]), 'closed')
})
