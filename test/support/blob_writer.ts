/* A program that writes blobs until it is killed: `blob_writer.ts ROOT DATABASE_URL SEED LINES`. Without ROOT it writes to
 * the bucket in BLOB_URL. Each line that it prints acknowledges a digest, and how many bytes have it. Every other body is
 * written by two writers at once. */
import { writeSync } from 'node:fs'
import { openBlobs } from '../../src/blobs/blobs.ts'
import { openDisk } from '../../src/blobs/disk.ts'
import { openS3 } from '../../src/blobs/s3.ts'
import { readBucket } from '../../src/config_values.ts'
import { createClient } from '../../src/db/client.ts'

const [root = '', connectionString = '', seed = '', lines = ''] = process.argv.slice(2)
const db = createClient({ connectionString })
const bucket = readBucket((name) => process.env[name])
const storage = root === '' && bucket !== undefined ? openS3(bucket) : openDisk(root)
const blobs = openBlobs({ db, storage, references: [] })

async function* bodyOf(text: string, chunks: number): AsyncGenerator<Uint8Array> {
  for (let number = 0; number < chunks; number += 1) {
    yield Buffer.from(`${text} ${number}\n`.repeat(Number(lines)))
    await new Promise(setImmediate)
  }
}

async function write(writer: number): Promise<never> {
  for (let number = 0; ; number += 1) {
    const who = number % 2 === 0 ? writer : writer % 4
    const { sha256, size } = await blobs.write(bodyOf(`${seed} ${who} ${number}`, 1 + (number % 20)), {
      limit: 1e9,
    })
    writeSync(1, `${sha256} ${size}\n`)
  }
}

await Promise.all([0, 1, 2, 3, 4, 5, 6, 7].map(write))
