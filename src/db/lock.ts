import { sql } from 'kysely'
import type { Db } from './client.ts'
import { statement, type Slots } from './statement.ts'

const lockKey = statement(
  (p: Slots<{ key: string }>) => sql`select pg_advisory_xact_lock(hashtextextended(${p.key}, 0))`,
)

/** Waits until no other transaction holds `key`, and holds it until this one ends. */
export async function lock(tx: Db, key: string): Promise<void> {
  await tx.run(lockKey, { key })
}
