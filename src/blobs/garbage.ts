import { sql } from 'kysely'
import type { Db } from '../db/db.ts'
import { statement, type Slots } from '../db/statement.ts'
import type { BlobReference } from './references.ts'
import type { BlobStorage } from './storage.ts'

export interface BlobsOptions {
  readonly db: Db
  readonly storage: BlobStorage
  readonly references: readonly BlobReference[]
}

const BATCH = 500

/** A blob is written before the row that keeps it: it has this long to be named. */
const GRACE = sql.lit('1 day')

/*
 * Garbage loses its digest first: from then on no row can name it, and a writer of the same bytes makes a new file under a
 * new location. Removing the file then takes nothing from anybody, however late it happens.
 */
const releaseStatement = (references: BlobsOptions['references']) =>
  statement(() => {
    const unnamed = references.map(
      ({ table, column }) =>
        sql`not exists (select from ${sql.table(table)} r where r.${sql.ref(column)} = b.sha256)`,
    )
    return sql`
      update blobs set sha256 = null
       where location in (
         select b.location from blobs b
          where ${sql.join([sql`b.sha256 is not null`, sql`b.used_at < now() - interval ${GRACE}`, ...unnamed], sql` and `)}
          order by b.used_at limit ${sql.lit(BATCH)} for update skip locked)`
  })

const abandoned = statement(
  () => sql<{ location: string }>`
    select location from blobs where sha256 is null and used_at < now() - interval ${GRACE} limit ${sql.lit(BATCH)}`,
)
const forget = statement(
  (p: Slots<{ locations: readonly string[] }>) => sql`
    delete from blobs where location = any(${p.locations}::text[]) and sha256 is null`,
)

/** Makes the function that removes blobs which no row names. */
export function createCollector({ db, storage, references }: BlobsOptions): () => Promise<number> {
  const release = releaseStatement(references)
  return async () => {
    while ((await db.run(release, {})) > 0);
    for (let removed = 0; ;) {
      const locations = (await db.rows(abandoned, {})).map(({ location }) => location)
      if (locations.length === 0) return removed
      for (const location of locations) await storage.remove(location)
      removed += await db.run(forget, { locations })
    }
  }
}
