/* An S3 server that holds the blobs, in the place of the disk. */
import assert from 'node:assert/strict'
import { createHash, randomBytes } from 'node:crypto'
import { buffer } from 'node:stream/consumers'
import { openBlobs } from '../../src/blobs/blobs.ts'
import { openS3 } from '../../src/blobs/s3.ts'
import type { BlobStorage } from '../../src/blobs/storage.ts'
import { readBucket } from '../../src/config_values.ts'
import { createClient } from '../../src/db/client.ts'
import { killWriters } from '../support/blob_crash.ts'
import { createTestDatabase } from '../support/database.ts'
import { objectStoreVersion, openObjectStore, type ObjectStore } from '../support/object_store.ts'
import type { Program } from './programs.ts'
import { curl } from './registries.ts'
import { withRegistry, type RegistryTarget } from './registry_target.ts'

const MIB = 1024 * 1024
const sha256 = (bytes: Uint8Array): string => createHash('sha256').update(bytes).digest('hex')

const storageIn = ({ env }: ObjectStore): BlobStorage => {
  const bucket = readBucket((name) => env[name])
  assert.ok(bucket)
  return openS3(bucket)
}

/** A file of several parts: the whole of it, parts of it, and what is there while the store is not. */
async function large({ api, project, token }: RegistryTarget, store: ObjectStore): Promise<void> {
  const body = randomBytes(12 * MIB)
  const headers = { 'private-token': token }
  const generic = `${api}/projects/${project}/packages/generic/large/1`
  const put = (name: string): Promise<Response> =>
    fetch(`${generic}/${name}`, { method: 'PUT', headers, body })
  const get = async (more: object = {}): Promise<[number, string]> => {
    const answer = await fetch(`${generic}/whole`, { headers: { ...headers, ...more } })
    return [answer.status, sha256(Buffer.from(await answer.arrayBuffer()))]
  }
  assert.equal((await put('whole')).status, 201)
  assert.deepEqual(await get(), [200, sha256(body)])
  const range = `bytes=${5 * MIB - 10}-${10 * MIB + 10}`
  assert.deepEqual(await get({ range }), [206, sha256(body.subarray(5 * MIB - 10, 10 * MIB + 11))])
  const readiness = async (): Promise<unknown> => {
    const answer = await fetch(new URL('/-/readiness', api))
    return [answer.status, ((await answer.json()) as { reason?: string }).reason]
  }
  assert.deepEqual(await readiness(), [200, undefined])
  await store.kill()
  assert.deepEqual(await readiness(), [503, 'the blob store is away'])
  const away = await put('late')
  assert.deepEqual([away.status, away.headers.get('retry-after')], [503, '1'])
  assert.equal((await get())[0], 503)
  await store.start()
  assert.deepEqual(await readiness(), [200, undefined])
  assert.deepEqual(await get(), [200, sha256(body)])
  assert.equal((await put('late')).status, 201)
}

/** Refused and aborted uploads leave neither an object nor a part. */
async function broken(store: ObjectStore): Promise<void> {
  const database = await createTestDatabase()
  const db = createClient({ connectionString: database.url })
  try {
    const blobs = openBlobs({ db, storage: storageIn(store), references: [] })
    const before = store.files()
    async function* bodyOf(mebibytes: number, fails: boolean): AsyncGenerator<Uint8Array> {
      for (let sent = 0; sent < mebibytes; sent += 1) yield randomBytes(MIB)
      if (fails) throw new Error('the sender went away')
    }
    await assert.rejects(blobs.write(bodyOf(12, true), { limit: 20 * MIB }), /went away/)
    await assert.rejects(blobs.write(bodyOf(12, false), { limit: 11 * MIB }))
    assert.deepEqual(store.files(), before)
    const { sha256: digest, size } = await blobs.write(bodyOf(10, false), { limit: 20 * MIB })
    assert.equal(sha256(await buffer(await blobs.read(digest))), digest)
    assert.equal(size, 10 * MIB)
    await db.script(`update blobs set used_at = now() - interval '2 days'`)
    assert.equal(await blobs.collect(), 1)
    assert.deepEqual(store.files(), before)
  } finally {
    await db.close()
    await database.drop()
  }
}

/** Everything that a store of blobs must do. */
export const objectStore: Program<void> = {
  name: 'S3 (versitygw)',
  version: objectStoreVersion,
  tries:
    'packages and files of several parts, ranges, broken uploads, collection; kill -9 of writers and of the store',
  run: async () => {
    const store = await openObjectStore()
    try {
      await broken(store)
      const { env } = store
      await killWriters({ storage: storageIn(store), root: '', env, lines: 25_000, leftovers: store.files })
      await withRegistry(curl.run, env)
      await withRegistry((target) => large(target, store), env)
    } finally {
      await store.close()
    }
  },
}
