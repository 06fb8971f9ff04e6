import assert from 'node:assert/strict'
import { open } from 'node:fs/promises'
import { Agent, request, type IncomingMessage } from 'node:http'
import { connect, type AddressInfo } from 'node:net'
import { once } from 'node:events'
import { PassThrough } from 'node:stream'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import pg from 'pg'
import { pino } from 'pino'
import { isDiskFull } from '../../db/errors.ts'
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

test('a full disk is 507, of files as of the database; a statement past its deadline is 503 with Retry-After', async () => {
  const app = createServer({ logger: pino({ level: 'silent' }), isAway: () => false, isDiskFull })
  const database = (code: string): Error =>
    Object.assign(new pg.DatabaseError('no room', 7, 'error'), { code })
  app.post('/file', async () => {
    const file = await open('/dev/full', 'w')
    try {
      await file.write('x')
    } finally {
      await file.close()
    }
  })
  app.post('/database', async () => Promise.reject(database('53100')))
  app.post('/late', async () => Promise.reject(database('57014')))
  for (const url of ['/file', '/database']) {
    const { statusCode, body } = await app.inject({ method: 'POST', url })
    assert.deepEqual([statusCode, body], [507, '{"message":"507 Insufficient Storage"}'], url)
  }
  const late = await app.inject({ method: 'POST', url: '/late' })
  assert.deepEqual(
    [late.statusCode, late.body, late.headers['retry-after']],
    [503, '{"message":"503 Service Unavailable"}', '1'],
  )
})

/** The server's whole answer to bytes on a connection. */
async function exchange(port: number, bytes: string): Promise<string> {
  const socket = connect(port, '127.0.0.1')
  socket.end(bytes)
  return (await socket.setEncoding('utf8').toArray()).join('')
}

test('a request with two Host headers is refused', async (t) => {
  const app = createServer({ logger: pino({ level: 'silent' }), isAway: () => false })
  app.get('/', async () => ({ served: true }))
  await app.listen({ host: '127.0.0.1', port: 0 })
  t.after(() => app.close())
  const { port } = app.server.address() as AddressInfo
  const ask = (hosts: string): Promise<string> =>
    exchange(port, `GET / HTTP/1.1\r\n${hosts}Connection: close\r\n\r\n`)
  assert.match(await ask('Host: a.example\r\n'), /^HTTP\/1\.1 200 /)
  for (const hosts of ['Host: a.example\r\nHost: b.example\r\n', 'Host: a.example\r\nhOST: a.example\r\n'])
    assert.match(await ask(hosts), /^HTTP\/1\.1 400 [^]*\{"error":"400 Bad Request"\}/)
})

test('mail addresses in paths are not logged', async () => {
  const lines: string[] = []
  const logger = pino({ level: 'info' }, { write: (line: string) => void lines.push(line) })
  const app = createServer({ logger, isAway: () => false })
  app.get('/groups/:id/invitations/:email', async () => ({}))
  for (const url of [
    '/groups/1/invitations/zoe%40mail.example',
    '/groups/1/invitations/zoe@mail.example/',
    '/groups/1/invitations/zoe%2540mail.example?x=zoe@mail.example',
    '/groups/1/nowhere/zoe@mail.example/x',
  ])
    await app.inject(url)
  assert.equal(lines.length, 4)
  assert.doesNotMatch(lines.join(''), /zoe|mail\.example/)
  assert.match(lines[0] ?? '', /"path":"\/groups\/1\/invitations\/\*\*\*"/)
})
