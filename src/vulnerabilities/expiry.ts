import { sql } from 'kysely'
import { statement } from '../db/statement.ts'
import type { Instance } from '../instance.ts'
import { LIFETIME } from './export_scope.ts'

/** Milliseconds between two rounds. */
const ROUND = 30_000

// The blob store removes at once what was written at least five minutes ago: until then the row stays, read by nobody.
const removeExpired = statement(
  () => sql<{ blob: string | null }>`
    delete from vulnerability_exports
     where created_at <= now() - ${LIFETIME} and (finished_at is null or finished_at < now() - interval '6 minutes')
    returning blob`,
)

/** Deletes the exports that were created an hour ago or earlier, rows and files; how many. */
export async function expireExports({ db, blobs }: Pick<Instance, 'db' | 'blobs'>): Promise<number> {
  const rows = await db.rows(removeExpired, {})
  await blobs.discard(rows.flatMap(({ blob }) => (blob === null ? [] : [blob])))
  return rows.length
}

/** Does so now and twice a minute, until it is stopped by calling what it returns. Never throws. */
export function watchExports(instance: Instance, say: (detail: object, text: string) => void): () => void {
  const round = (): void =>
    void expireExports(instance).catch((error: unknown) =>
      say({ err: error }, 'expired exports could not be deleted'),
    )
  round()
  const clock = setInterval(round, ROUND)
  clock.unref()
  return () => clearInterval(clock)
}
