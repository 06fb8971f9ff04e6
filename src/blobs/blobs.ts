import { randomBytes } from 'node:crypto'
import type { Readable } from 'node:stream'
import { sql } from 'kysely'
import type { Db } from '../db/db.ts'
import { violates } from '../db/errors.ts'
import { q, statement, type Slots } from '../db/statement.ts'
import { digesting, type Digests } from './digests.ts'
import { createCollector, type BlobsOptions } from './garbage.ts'
import type { Range } from './storage.ts'

/**
 * Files by their SHA-256 digest. Each digest is stored once. A row keeps a blob by a foreign key to `blobs (sha256)`, in a
 * column that `BLOB_REFERENCES` names; a blob without such a row is removed a day after it was last written.
 */
export interface Blobs {
  /**
   * Writes a file and digests it on the way. It is durable when the promise resolves; the caller then inserts the row that
   * keeps it. Rejects with `BlobTooLarge` past `limit` bytes, and leaves nothing behind when it rejects. Never call it
   * inside a transaction: it waits for the sender and for the disk.
   */
  write(body: AsyncIterable<Uint8Array>, options: { readonly limit: number }): Promise<Digests>
  /** The bytes of a blob, or some of them. Rejects with `BlobMissing`. */
  read(sha256: string, range?: Range): Promise<Readable>
  /** Bytes, or undefined when there is no such blob. */
  size(sha256: string): Promise<number | undefined>
  /**
   * Removes those of the blobs that no row names, without the day's grace. One that was written in the last minutes stays
   * for `collect`: its writer may be about to insert the row that keeps it.
   */
  discard(sha256s: readonly string[]): Promise<void>
  /** Removes blobs that no row names, and what killed processes left. Returns how many files it removed. */
  collect(): Promise<number>
  /** Rejects with `StorageAway` while blobs can be neither written nor read. */
  check(): Promise<void>
}

/** No blob has that digest. */
export class BlobMissing extends Error {}

const reserve = statement((p: Slots<{ location: string }>) =>
  q.insertInto('blobs').values({ location: p.location }),
)
const touch = statement(
  (p: Slots<{ sha256: string }>) => sql`update blobs set used_at = now() where sha256 = ${p.sha256}`,
)
const complete = statement(
  (p: Slots<Digests & { location: string }>) => sql`
    update blobs set sha256 = ${p.sha256}, sha1 = ${p.sha1}, md5 = ${p.md5}, size = ${p.size}, used_at = now()
     where location = ${p.location}`,
)
const find = statement((p: Slots<{ sha256: string }>) =>
  q.selectFrom('blobs').select(['location', 'size']).where('sha256', '=', p.sha256),
)
const age = statement(
  (p: Slots<{ sha256s: readonly string[] }>) => sql`
    update blobs set used_at = '-infinity'
     where sha256 = any(${p.sha256s}::text[]) and used_at < now() - interval '5 minutes'`,
)
const forget = statement((p: Slots<{ location: string }>) =>
  q.deleteFrom('blobs').where('location', '=', p.location),
)

export function openBlobs({ db, storage, references }: BlobsOptions): Blobs {
  const collect = createCollector({ db, storage, references })
  const discard = async (location: string): Promise<void> => {
    await storage.remove(location)
    await db.run(forget, { location })
  }
  return {
    write: async (body, { limit }) => {
      const location = randomBytes(16).toString('hex')
      await db.run(reserve, { location })
      const counted = digesting(body, limit)
      try {
        await storage.put(location, counted.body)
        const digests = counted.digests()
        if (!(await claim(db, location, digests))) await discard(location)
        return digests
      } catch (error) {
        // A blob that cannot be discarded now has a row and is collected later.
        await discard(location).catch(() => {})
        throw error
      }
    },
    read: async (sha256, range) => {
      const blob = await db.one(find, { sha256 })
      if (blob === undefined) throw new BlobMissing(sha256)
      return storage.get(blob.location, range)
    },
    size: async (sha256) => (await db.one(find, { sha256 }))?.size ?? undefined,
    discard: async (sha256s) => {
      if (sha256s.length > 0 && (await db.run(age, { sha256s })) > 0) await collect()
    },
    collect,
    check: () => storage.check(),
  }
}

/** Gives the file its digest; false when another file has it. A blob that is being collected counts as none. */
async function claim(db: Db, location: string, digests: Digests): Promise<boolean> {
  for (;;) {
    if ((await db.run(touch, { sha256: digests.sha256 })) === 1) return false
    try {
      if ((await db.run(complete, { location, ...digests })) === 1) return true
      throw new Error(`the blob ${location} was collected while it was written`)
    } catch (error) {
      // Another writer of the same bytes was faster: its file is used.
      if (!violates(error, 'blobs_sha256_key')) throw error
    }
  }
}
