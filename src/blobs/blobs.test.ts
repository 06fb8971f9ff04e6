import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { mkdtempSync, readdirSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { buffer } from 'node:stream/consumers'
import { createTestDatabase } from '../../test/support/database.ts'
import { createClient, type Client } from '../db/client.ts'
import { openBlobs, BlobMissing, type Blobs } from './blobs.ts'
import { BlobTooLarge } from './digests.ts'
import { openDisk } from './disk.ts'
import { BLOB_REFERENCES } from './references.ts'

let db: Client
let root: string
let blobs: Blobs
let drop: () => Promise<void>
before(async () => {
  const database = await createTestDatabase()
  drop = () => database.drop()
  db = createClient({ connectionString: database.url })
  root = mkdtempSync(join(tmpdir(), 'guildhall-blobs-'))
  await db.script('create table things (digest text references blobs (sha256))')
  blobs = openBlobs({
    db,
    storage: openDisk(join(root, 'blobs')),
    references: [{ table: 'things', column: 'digest' }],
  })
})
after(async () => {
  await db.close()
  await drop()
  rmSync(root, { recursive: true })
})

async function* bodyOf(...chunks: readonly string[]): AsyncGenerator<Uint8Array> {
  for (const chunk of chunks) {
    yield Buffer.from(chunk)
    await new Promise(setImmediate)
  }
}
const write = (...chunks: readonly string[]) => blobs.write(bodyOf(...chunks), { limit: 100 })
const read = async (sha256: string, range?: { start: number; end: number }): Promise<string> =>
  (await buffer(await blobs.read(sha256, range))).toString()
const files = (): string[] =>
  readdirSync(root, { recursive: true })
    .map((name) => join(root, String(name)))
    .filter((path) => statSync(path).isFile())
const count = async (): Promise<number> =>
  Number((await db.pool.query<{ count: string }>('select count(*) from blobs')).rows[0]?.count)
const name = (sha256: string): Promise<unknown> => db.pool.query('insert into things values ($1)', [sha256])
const age = (): Promise<unknown> => db.pool.query(`update blobs set used_at = now() - interval '2 days'`)

test('a blob is read by its digest, whole or in part', async () => {
  const written = await write('hello ', 'world')
  const digest = (name: string): string => createHash(name).update('hello world').digest('hex')
  assert.deepEqual(written, {
    sha256: digest('sha256'),
    sha1: digest('sha1'),
    md5: digest('md5'),
    size: 11,
  })
  assert.equal(await read(written.sha256), 'hello world')
  assert.equal(await read(written.sha256, { start: 6, end: 8 }), 'wor')
  assert.equal(await blobs.size(written.sha256), 11)
  await assert.rejects(blobs.read('0'.repeat(64)), BlobMissing)
  assert.equal(await blobs.size('0'.repeat(64)), undefined)
})

test('an empty body is a blob', async () => {
  const { sha256, size } = await write()
  assert.equal(size, 0)
  assert.equal(await read(sha256), '')
})

test('equal bodies are one file, also when they are written at once', async () => {
  const [filesBefore, rowsBefore] = [files().length, await count()]
  const written = await Promise.all(Array.from({ length: 20 }, () => write('a', 'b', 'c')))
  assert.equal(new Set(written.map(({ sha256 }) => sha256)).size, 1)
  assert.equal(files().length, filesBefore + 1)
  assert.equal(await count(), rowsBefore + 1)
})

test('a body past the limit, and one that breaks off, leave neither a file nor a row', async () => {
  const [filesBefore, rowsBefore] = [files().length, await count()]
  await assert.rejects(write('x'.repeat(60), 'x'.repeat(41)), BlobTooLarge)
  await assert.rejects(
    blobs.write(
      (async function* () {
        yield Buffer.from('the beginning')
        await new Promise(setImmediate)
        throw new Error('the sender went away')
      })(),
      { limit: 100 },
    ),
    /went away/,
  )
  assert.equal((await write('x'.repeat(60), 'x'.repeat(40))).size, 100)
  assert.equal(files().length, filesBefore + 1)
  assert.equal(await count(), rowsBefore + 1)
})

test('garbage is what no row names and nobody wrote for a day', async () => {
  const [kept, garbage] = [await write('kept'), await write('garbage')]
  await name(kept.sha256)
  await age()
  const fresh = await write('fresh')
  const again = await write('again')
  await age()
  await write('again')
  await db.pool.query(`update blobs set used_at = now() where sha256 = $1`, [fresh.sha256])
  assert.ok((await blobs.collect()) > 0)
  assert.equal(await read(kept.sha256), 'kept')
  assert.equal(await read(fresh.sha256), 'fresh')
  assert.equal(await read(again.sha256), 'again')
  await assert.rejects(blobs.read(garbage.sha256), BlobMissing)
  assert.equal(files().length, await count())
})

test('no row can name a blob that was collected', async () => {
  const { sha256 } = await write('late')
  await age()
  await blobs.collect()
  await assert.rejects(name(sha256), /foreign key/)
})

test('a body that is written while the same bytes are collected stays readable', async () => {
  for (let round = 0; round < 20; round += 1) {
    await write('phoenix')
    await age()
    const [written] = await Promise.all([write('phoenix'), blobs.collect(), write('phoenix')])
    assert.equal(await read(written.sha256), 'phoenix')
  }
  await age()
  await blobs.collect()
  assert.equal(files().length, await count())
})

test('every foreign key to blobs is among the references, with an index', async () => {
  const { rows } = await db.pool.query<{ table: string; column: string; indexed: boolean }>(`
    select c.conrelid::regclass::text as table, a.attname as column,
           exists (select from pg_index i where i.indrelid = c.conrelid and i.indkey[0] = a.attnum) as indexed
      from pg_constraint c join pg_attribute a on a.attrelid = c.conrelid and a.attnum = c.conkey[1]
     where c.contype = 'f' and c.confrelid = 'blobs'::regclass and c.conrelid <> 'things'::regclass`)
  const named = ({ table, column }: { table: string; column: string }): string => `${table}.${column}`
  assert.deepEqual(rows.map(named).toSorted(), BLOB_REFERENCES.map(named).toSorted())
  assert.deepEqual(rows.filter(({ indexed }) => !indexed).map(named), [])
})
