import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { buffer } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'
import { openBlobs } from '../../src/blobs/blobs.ts'
import type { BlobStorage } from '../../src/blobs/storage.ts'
import { createClient } from '../../src/db/client.ts'
import { createTestDatabase } from './database.ts'
import { killsOf, until } from './program.ts'

const writer = fileURLToPath(new URL('blob_writer.ts', import.meta.url))

export interface CrashOptions {
  readonly storage: BlobStorage
  /** The folder of the writer's files, or '' for the bucket in `env`. */
  readonly root: string
  readonly env?: Readonly<Record<string, string>>
  /** Lines of which a piece of a body is made. */
  readonly lines: number
  /** Files in the storage without rows. */
  readonly leftovers: () => readonly string[]
}

/** Kills a program that writes blobs, again and again: acknowledged blobs stay, and all else is collected. */
export async function killWriters({ storage, root, env, lines, leftovers }: CrashOptions): Promise<string> {
  const database = await createTestDatabase()
  const db = createClient({ connectionString: database.url })
  try {
    const acknowledged = new Map<string, number>()
    const kills = killsOf(3)
    for (let round = 0; round < kills; round += 1) {
      const args = ['--import', 'tsx', writer, root, database.url, String(round), String(lines)]
      const child = spawn(process.execPath, args, {
        env: { ...process.env, ...env },
        stdio: ['ignore', 'pipe', 'inherit'],
      })
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
    const blobs = openBlobs({ db, storage, references: [] })
    for (const [sha256, size] of acknowledged) {
      const bytes = await buffer(await blobs.read(sha256))
      assert.equal(createHash('sha256').update(bytes).digest('hex'), sha256)
      assert.equal(bytes.length, size)
    }
    // No file is without a row: once all are old and none is named, none is left.
    await db.script(`update blobs set used_at = now() - interval '2 days'`)
    const collected = await blobs.collect()
    assert.ok(collected >= acknowledged.size)
    assert.deepEqual(leftovers(), [])
    return `${acknowledged.size} acknowledged blobs survived ${kills} kills; ${collected} files collected`
  } finally {
    await db.close()
    await database.drop()
  }
}
