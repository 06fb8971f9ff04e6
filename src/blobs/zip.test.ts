import assert from 'node:assert/strict'
import { Readable } from 'node:stream'
import { text } from 'node:stream/consumers'
import { test } from 'node:test'
import { zipOf } from '../../test/support/artifacts.ts'
import { findZipEntry, openZipEntry, type ZipSource } from './zip.ts'

const sourceOf = (bytes: Buffer): ZipSource => ({
  size: bytes.length,
  read: async ({ start, end }) => Readable.from([bytes.subarray(start, end + 1)]),
})
async function readFile(bytes: Buffer, path: string): Promise<string | undefined> {
  const source = sourceOf(bytes)
  const entry = await findZipEntry(source, path)
  return entry && text(await openZipEntry(source, entry))
}
const LONG = 'line\n'.repeat(100_000)
const archive = zipOf({ 'a.txt': LONG, 'b.bin': 'stored', 'empty.txt': '', 'dir/ä.txt': 'ü' })

test('files are found by their path, and read', async () => {
  assert.equal(await readFile(archive, 'a.txt'), LONG)
  assert.equal(await readFile(archive, 'b.bin'), 'stored')
  assert.equal(await readFile(archive, 'empty.txt'), '')
  assert.equal(await readFile(archive, 'dir/ä.txt'), 'ü')
  for (const none of ['a', 'dir/', 'A.txt', '']) assert.equal(await readFile(archive, none), undefined, none)
})

test('a comment at the end of an archive is skipped', async () => {
  const commented = Buffer.concat([archive, Buffer.from('said')])
  commented.writeUInt16LE(4, archive.length - 2)
  assert.equal(await readFile(commented, 'b.bin'), 'stored')
})

test('bytes that are no archive hold no file', async () => {
  for (const bytes of [Buffer.alloc(0), Buffer.from('PK'), Buffer.alloc(70_000), archive.subarray(0, -30)])
    assert.equal(await readFile(bytes, 'a.txt'), undefined)
  const pointsOutside = Buffer.from(archive)
  pointsOutside.writeUInt32LE(archive.length, archive.length - 6)
  assert.equal(await readFile(pointsOutside, 'a.txt'), undefined)
})

test('a file that is longer or shorter than its directory says fails', async () => {
  const at = archive.indexOf('PK\u0001\u0002', 0, 'latin1')
  for (const size of [10, LONG.length + 1]) {
    const wrong = Buffer.from(archive)
    wrong.writeUInt32LE(size, at + 24)
    await assert.rejects(readFile(wrong, 'a.txt'), /than its directory says/)
  }
})

test('an encrypted file, or one of another compression, is none', async () => {
  const at = archive.indexOf('PK\u0001\u0002', 0, 'latin1')
  for (const [where, value] of [
    [8, 1],
    [10, 12],
  ] as const) {
    const other = Buffer.from(archive)
    other.writeUInt16LE(value, at + where)
    assert.equal(await readFile(other, 'a.txt'), undefined)
  }
})
