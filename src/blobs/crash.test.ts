import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { buffer } from 'node:stream/consumers'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { createTestDatabase } from '../../test/support/database.ts'
import { killsOf, until } from '../../test/support/program.ts'
import { createClient } from '../db/client.ts'
import { openBlobs } from './blobs.ts'
import { openDisk } from './disk.ts'

const writer = fileURLToPath(new URL('../../test/support/blob_writer.ts', import.meta.url))

test('a killed writer loses no acknowledged blob and leaves nothing that is not collected', async (t) => {
  const database = await createTestDatabase()
  const root = join(mkdtempSync(join(tmpdir(), 'guildhall-blob-crash-')), 'blobs')
  const db = createClient({ connectionString: database.url })
  t.after(async () => {
    await db.close()
    await database.drop()
    rmSync(join(root, '..'), { recursive: true })
  })
  const acknowledged = new Map<string, number>()
  const kills = killsOf(3)
  for (let round = 0; round < kills; round += 1) {
    const args = ['--import', 'tsx', writer, root, database.url, String(round)]
    const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] })
    let told = ''
    child.stdout.setEncoding('utf8').on('data', (text: string) => (told += text))
    const wanted = 50 + round * 7
    await until('the writer has written', () => told.split('\n').length > wanted)
    const closed = once(child, 'close')
    child.kill('SIGKILL')
    await closed
    for (const line of told.split('\n').slice(0, -1)) {
      const [sha256 = '', size] = line.split(' ')
      acknowledged.set(sha256, Number(size))
    }
  }
  const blobs = openBlobs({ db, storage: openDisk(root), references: [] })
  for (const [sha256, size] of acknowledged) {
    const bytes = await buffer(await blobs.read(sha256))
    assert.equal(createHash('sha256').update(bytes).digest('hex'), sha256)
    assert.equal(bytes.length, size)
  }
  // No file is without a row: once all are old and none is named, none is left.
  await db.script(`update blobs set used_at = now() - interval '2 days'`)
  const collected = await blobs.collect()
  assert.ok(collected >= acknowledged.size)
  const left = readdirSync(root, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile())
  assert.deepEqual(left, [])
  t.diagnostic(
    `${acknowledged.size} acknowledged blobs survived ${kills} kills; ${collected} files collected`,
  )
})
