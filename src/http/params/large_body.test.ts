import assert from 'node:assert/strict'
import { once } from 'node:events'
import { readdirSync } from 'node:fs'
import { mkdtemp, readdir, rm } from 'node:fs/promises'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { after, before, test } from 'node:test'
import fastify, { type FastifyInstance, type FastifyRequest } from 'fastify'
import { readBody } from './body.ts'
import { isTree, type Tree, type Value } from './forms.ts'
import { createLargeBodySlots, largeBody } from './large_body.ts'
import { LongText } from './long_text.ts'
import { Problem, unauthorized } from '../problems.ts'

const MB = 1024 * 1024
let directory: string
let app: FastifyInstance
let onDisk: number[] = []
let kept: (() => void)[] = []
let holds = false

/** A route that takes 64 MB of who says so, and answers with what it read, the long texts read from disk. */
before(async () => {
  directory = await mkdtemp(join(tmpdir(), 'guildhall-bodies-'))
  app = fastify({ bodyLimit: MB, forceCloseConnections: true })
  app.decorateRequest('longTexts', undefined)
  app.removeAllContentTypeParsers()
  app.addContentTypeParser('*', { parseAs: 'buffer' }, async (request: FastifyRequest, bytes: Buffer) =>
    readBody(bytes, request.headers['content-type'], request.longTexts),
  )
  app.setErrorHandler((error, _, reply) =>
    error instanceof Problem ? reply.code(error.status).send(error.body) : reply.send(error),
  )
  const knock = async ({ headers }: { headers: Record<string, unknown> }): Promise<void> => {
    if (headers['x-known'] === undefined) throw unauthorized()
  }
  const bodies = { dataDir: directory, slots: createLargeBodySlots() }
  for (const path of ['/', '/other'])
    app.post(path, {
      ...largeBody(64 * MB, bodies, knock),
      handler: async (request) => {
        onDisk = []
        const read = await whole((request.body ?? {}) as Tree)
        if (holds) await new Promise<void>((resolve) => kept.push(resolve))
        return read
      },
    })
  await app.listen({ port: 0, host: '127.0.0.1' })
})
after(async () => {
  await app.close()
  await rm(directory, { recursive: true })
})

async function whole(value: Value): Promise<Value> {
  if (value instanceof LongText) {
    onDisk.push(value.length)
    return (await value.bytes()).toString()
  }
  if (Array.isArray(value)) return Promise.all((value as Value[]).map(whole))
  if (!isTree(value)) return value
  return Object.fromEntries(
    await Promise.all(Object.entries(value).map(async ([name, one]) => [name, await whole(one)] as const)),
  )
}

const address = (): string => {
  const place = app.server.address()
  return `http://127.0.0.1:${typeof place === 'object' ? place?.port : ''}/`
}
const json = { 'content-type': 'application/json', 'x-known': 'yes' }
const untilKept = async (count: number): Promise<void> => {
  for (let i = 0; kept.length < count && i < 4_000; i += 1)
    await new Promise((resolve) => setTimeout(resolve, 5))
  assert.equal(kept.length, count)
}
const letGo = (): void => {
  holds = false
  for (const release of kept) release()
  kept = []
}
const send = (body: string | Buffer, headers: Record<string, string> = {}): Promise<Response> =>
  fetch(address(), {
    method: 'POST',
    headers: { ...json, ...headers },
    body,
  })

test('a large body is read as it was sent, its long contents from disk', async () => {
  const odd = 'Zeile\n"\\/\b\f\r\t€ 😀 \u0000 \u2028'.repeat(3_000)
  const sent = {
    branch: 'main',
    actions: [
      { content: 'short', file_path: 'a' },
      { content: odd, file_path: 'b' },
      { file_path: 'c', content: 'x'.repeat(3 * MB) },
      { content: '', other: 'y'.repeat(100_000) },
    ],
    content: ['é'.repeat(20_000)],
  }
  const plain = JSON.stringify(sent)
  const escaped = plain.replaceAll(
    /[^\0-\x7f]/g,
    (c) => `\\u${c.charCodeAt(0).toString(16).padStart(4, '0')}`,
  )
  for (const text of [plain, escaped, JSON.stringify(sent, null, 3)]) {
    const answer = await send(text)
    assert.equal(answer.status, 200)
    assert.deepEqual(await answer.json(), sent)
    assert.equal(onDisk.length, 3)
  }
})

test('a small body takes the short way, and nothing stays on disk', async () => {
  const sent = { content: 'x'.repeat(500_000) }
  assert.deepEqual(await (await send(JSON.stringify(sent), { 'x-known': '' })).json(), sent)
  assert.deepEqual(onDisk, [])
  assert.deepEqual(await readdir(directory), [])
})

test('a large body of somebody unknown is not read', async () => {
  const answer = await app.inject({
    method: 'POST',
    url: '/',
    headers: { 'content-type': 'application/json', 'content-length': String(2 * MB) },
    payload: 'x'.repeat(2 * MB),
  })
  assert.deepEqual([answer.statusCode, answer.json()], [401, { message: '401 Unauthorized' }])
  assert.equal(answer.headers.connection, 'close')
})

test('a large body that is compressed is not read', async () => {
  const answer = await app.inject({
    method: 'POST',
    url: '/',
    headers: { 'content-type': 'application/json', 'content-encoding': 'gzip', 'x-known': 'yes' },
    payload: Buffer.alloc(2 * MB),
  })
  assert.deepEqual(
    [answer.statusCode, answer.json()],
    [415, { error: 'Compressed request bodies are not supported.' }],
  )
})

test('broken JSON is refused, in what stays in memory and in what goes to disk', async () => {
  const long = 'x'.repeat(2 * MB)
  const broken = [`{"a":"${long}"`, `{"content":"${long}}`, `{"content":"${long}\n"}`]
  for (const body of broken) {
    const answer = await send(body)
    assert.deepEqual(
      [answer.status, await answer.json()],
      [400, { error: 'message body does not match declared format' }],
    )
  }
  for (const escape of ['\\x', '\\u12g4', '\\ud800', '\\ud800\\u0041', '\\udc00']) {
    const answer = await send(`{"content":"${long}${escape}"}`)
    assert.deepEqual(
      [answer.status, await answer.json()],
      [400, { error: 'message body does not match declared format' }],
      escape,
    )
  }
  const bytes = Buffer.concat([Buffer.from(`{"content":"${long}`), Buffer.from([0xff]), Buffer.from('"}')])
  assert.equal((await send(bytes)).status, 400)
})

test('past its limit a body is refused, and so is one whose names and short texts fill the memory', async () => {
  const text = { error: 'Request Entity Too Large' }
  const tooLong = await send(`{"content":"${'x'.repeat(64 * MB)}"}`).catch(() => undefined)
  if (tooLong) assert.deepEqual([tooLong.status, await tooLong.json()], [413, text])
  const other = await send(`{"other":"${'x'.repeat(40 * MB)}"}`).catch(() => undefined)
  if (other) assert.deepEqual([other.status, await other.json()], [413, text])
  const injected = await app.inject({
    method: 'POST',
    url: '/',
    headers: { 'content-type': 'application/json', 'x-known': 'yes' },
    payload: `{"other":"${'x'.repeat(40 * MB)}"}`,
  })
  assert.deepEqual([injected.statusCode, injected.json()], [413, text])
})

test('of many that are very large three are worked on at once', async () => {
  holds = true
  const body = `{"content":"${'x'.repeat(21 * MB)}"}`
  const first = Array.from({ length: 3 }, () => send(body))
  await untilKept(3)
  // Over all routes, and whether it tells its length or comes in chunks.
  for (const [url, chunked] of [
    ['/', false],
    ['/other', false],
    ['/other', true],
  ] as const) {
    const headers = { ...json, ...(chunked && { 'transfer-encoding': 'chunked' }) }
    const fourth = await app.inject({
      method: 'POST',
      url,
      headers,
      payload: chunked ? Readable.from([Buffer.from(body)]) : body,
    })
    assert.deepEqual([fourth.statusCode, fourth.json()], [429, { message: '429 Too Many Requests' }])
  }
  letGo()
  for (const answer of await Promise.all(first)) {
    assert.equal(answer.status, 200)
    await answer.arrayBuffer()
  }
  assert.equal((await send(body)).status, 200)
  assert.deepEqual(await readdir(directory), [])
})

test('a request without a body takes no slot', async () => {
  holds = true
  const empty = Array.from({ length: 12 }, () =>
    app.inject({ method: 'POST', url: '/?title=x', headers: json }),
  )
  await untilKept(12)
  letGo()
  for (const answer of await Promise.all(empty)) assert.equal(answer.statusCode, 200)
})

test('uploads in chunks that stand still take no slot', async () => {
  const { port } = new URL(address())
  const idle = Array.from({ length: 4 }, () => {
    const socket = connect(Number(port), '127.0.0.1')
    socket.on('error', () => {})
    const headers = 'host: x\r\nx-known: yes\r\ncontent-type: application/json\r\ntransfer-encoding: chunked'
    socket.write(`POST / HTTP/1.1\r\n${headers}\r\n\r\n10\r\n{"content":"xxxx\r\n`)
    return socket
  })
  await Promise.all(idle.map((socket) => once(socket, 'connect')))
  const answer = await send(`{"content":"${'x'.repeat(21 * MB)}"}`)
  assert.equal(answer.status, 200)
  await answer.arrayBuffer()
  for (const socket of idle) socket.destroy()
})

test('an aborted upload frees its slot and its temporary file', async () => {
  const { port } = new URL(address())
  const open = (): number => readdirSync('/proc/self/fd').length
  const before = open()
  for (let i = 0; i < 5; i += 1) {
    const socket = connect(Number(port), '127.0.0.1')
    socket.on('error', () => {})
    socket.write(
      `POST / HTTP/1.1\r\nhost: x\r\nx-known: yes\r\ncontent-type: application/json\r\ncontent-length: ${30 * MB}\r\n\r\n` +
        `{"content":"${'x'.repeat(21 * MB)}`,
    )
    await new Promise((resolve) => setTimeout(resolve, 30))
    socket.destroy()
    await new Promise((resolve) => setTimeout(resolve, 30))
  }
  const body = `{"content":"${'x'.repeat(21 * MB)}"}`
  let answer = await send(body)
  // The places are free as soon as the server has heard of it.
  for (let tries = 0; answer.status === 429 && tries < 20; tries += 1) {
    await new Promise((resolve) => setTimeout(resolve, 50))
    answer = await send(body)
  }
  assert.equal(answer.status, 200)
  await answer.arrayBuffer()
  for (let i = 0; open() > before + 2 && i < 400; i += 1)
    await new Promise((resolve) => setTimeout(resolve, 5))
  assert.ok(open() <= before + 2, `${open()} open, ${before} before`)
})
