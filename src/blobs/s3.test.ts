import assert from 'node:assert/strict'
import { createServer, type IncomingMessage, type Server } from 'node:http'
import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { afterEach, test } from 'node:test'
import { buffer } from 'node:stream/consumers'
import { openWorld } from '../../test/support/world.ts'
import { readBucket } from '../config_values.ts'
import { openS3 } from './s3.ts'
import { StorageAway, type BlobStorage } from './storage.ts'

// Refused and broken requests; a real server holds blobs in `npm run interop`.

interface Asked {
  readonly line: string
  readonly bytes: number
}
interface Answer {
  readonly status?: number
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: string
}

let server: Server | undefined
afterEach(() => server?.close())

const CREDENTIALS = { AWS_ACCESS_KEY_ID: 'id', AWS_SECRET_ACCESS_KEY: 'secret' }
const settingsFor = (url: string): Record<string, string> => ({
  BLOB_URL: 's3://bucket/deep/er/',
  AWS_ENDPOINT_URL_S3: url,
  ...CREDENTIALS,
})
function storageAt(url: string): BlobStorage {
  const settings = settingsFor(url)
  const bucket = readBucket((name) => settings[name])
  assert.ok(bucket)
  return openS3(bucket)
}

/** A storage on a server that answers as told, and what it was asked. */
async function open(
  answer: (line: string, request: IncomingMessage) => Answer,
): Promise<{ readonly storage: BlobStorage; readonly asked: Asked[] }> {
  const asked: Asked[] = []
  server = createServer((request, response) => {
    void buffer(request).then((body) => {
      const line = `${request.method} ${request.url}`
      asked.push({ line, bytes: body.length })
      const { status = 200, headers = {}, body: text = '' } = answer(line, request)
      return response.writeHead(status, headers).end(text)
    })
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  return { storage: storageAt(`http://127.0.0.1:${(server.address() as AddressInfo).port}`), asked }
}

const MIB = 1024 * 1024
async function* bodyOf(...sizes: readonly number[]): AsyncGenerator<Uint8Array> {
  for (const size of sizes) {
    if (size < 0) throw new Error('the sender went away')
    yield Buffer.alloc(size)
    await new Promise(setImmediate)
  }
}
const key = 'PUT /bucket/deep/er/ab/abc'
const error = (code: string): string => `<Error><Code>${code}</Code></Error>`
const begun = '<InitiateMultipartUploadResult><UploadId>id-1</UploadId></InitiateMultipartUploadResult>'
const ended = '<CompleteMultipartUploadResult></CompleteMultipartUploadResult>'
const uploading = (line: string): Answer => {
  if (line.startsWith('POST')) return { body: line.endsWith('?uploads=') ? begun : ended }
  return { headers: { etag: '"tag"' } }
}

test('a small body is one request, signed with its digest', async () => {
  const signed: unknown[] = []
  const { storage, asked } = await open((_line, { headers }) => {
    signed.push(headers['x-amz-content-sha256'], /Credential=id\//.test(headers.authorization ?? ''))
    return {}
  })
  await storage.put('abc', bodyOf(1_000, 24))
  assert.deepEqual(asked, [{ line: key, bytes: 1_024 }])
  assert.deepEqual(signed, ['5f70bf18a086007016e948b04aed3b82103a36bea41755b6cddfaf10ace3c6ef', true])
})

test('parts of a long body have one length, but for the last, and an exact one is no part too many', async () => {
  const { storage, asked } = await open(uploading)
  const partsOf = async (...sizes: readonly number[]): Promise<number[]> => {
    asked.length = 0
    await storage.put('abc', bodyOf(...sizes))
    return asked.filter(({ line }) => line.startsWith('PUT')).map(({ bytes }) => bytes)
  }
  assert.deepEqual(await partsOf(7 * MIB, 1, 4 * MIB), [5 * MIB, 5 * MIB, MIB + 1])
  assert.deepEqual(await partsOf(5 * MIB), [5 * MIB])
  assert.deepEqual(await partsOf(12 * MIB, 3 * MIB), [5 * MIB, 5 * MIB, 5 * MIB])
  assert.deepEqual(await partsOf(), [0])
})

test('an upload that breaks off is aborted', async () => {
  const { storage, asked } = await open(uploading)
  await assert.rejects(storage.put('abc', bodyOf(6 * MIB, -1)), /went away/)
  assert.equal(asked.at(-1)?.line, 'DELETE /bucket/deep/er/ab/abc?uploadId=id-1')
})

test('an upload whose completion fails behind a status of 200 is aborted', async () => {
  const { storage, asked } = await open((line) =>
    line.includes('POST') && line.includes('uploadId') ? { body: error('InternalError') } : uploading(line),
  )
  await assert.rejects(storage.put('abc', bodyOf(6 * MIB)), StorageAway)
  assert.match(asked.at(-1)?.line ?? '', /^DELETE .*uploadId=id-1$/)
})

test('a request that fails for the moment is sent again, one that is refused is not', async () => {
  let left = 2
  const passing = await open(() => ((left -= 1) >= 0 ? { status: 503, body: error('SlowDown') } : {}))
  await passing.storage.put('abc', bodyOf(1))
  assert.equal(passing.asked.length, 3)
  server?.close()
  const refusing = await open(() => ({ status: 403, body: error('SignatureDoesNotMatch') }))
  await assert.rejects(refusing.storage.put('abc', bodyOf(1)), /403 SignatureDoesNotMatch/)
  assert.equal(refusing.asked.length, 1)
})

test('a removal takes the object and what was left of uploads to its key', async () => {
  const { storage, asked } = await open((line) =>
    line.startsWith('GET') ? { body: begun } : { status: 404, body: error('NoSuchKey') },
  )
  await storage.remove('abc')
  assert.deepEqual(
    asked.map(({ line }) => line),
    [
      'DELETE /bucket/deep/er/ab/abc',
      'GET /bucket?uploads=&prefix=deep%2Fer%2Fab%2Fabc',
      'DELETE /bucket/deep/er/ab/abc?uploadId=id-1',
    ],
  )
})

test('a full store has the code of a full disk, and an object that is missing is no store that is away', async () => {
  const { storage } = await open((line) =>
    line.startsWith('PUT')
      ? { status: 507, body: error('XMinioStorageFull') }
      : { status: 404, body: error('NoSuchKey') },
  )
  await assert.rejects(storage.put('abc', bodyOf(1)), { code: 'ENOSPC' })
  await assert.rejects(storage.get('abc'), (thrown) => !(thrown instanceof StorageAway))
})

test('a store that sends the whole object for a range is not believed', async () => {
  const { storage } = await open(() => ({ body: 'everything' }))
  await assert.rejects(storage.get('abc', { start: 1, end: 2 }), /no ranges/)
})

test('while the store is away, files are 503 with Retry-After, readiness says so, and all else goes on', async (t) => {
  // Port 9 discards, where anything listens there at all.
  const world = await openWorld({ env: settingsFor('http://127.0.0.1:9') })
  t.after(() => world.close())
  await world.make.admin()
  const project = await world.make.project()
  const as = await world.make.memberOf('developer', { project })
  const path = `/projects/${project.id}/packages/generic/a/1/f`
  const headers = { 'content-type': 'application/octet-stream' }
  const refused = await world.call('PUT', path, { as, body: 'x', headers })
  assert.deepEqual(
    [refused.status, refused.headers['retry-after'], refused.body],
    [503, '1', { message: '503 Service Unavailable' }],
  )
  const ready = await world.app.inject('/-/readiness')
  assert.deepEqual(
    [ready.statusCode, ready.json()],
    [503, { status: 'failed', reason: 'the blob store is away' }],
  )
  assert.deepEqual((await world.get(`/projects/${project.id}/packages`, as)).body, [])
})
