import { sql } from 'kysely'
import type { Db } from '../../db/db.ts'
import { statement, type Slots } from '../../db/statement.ts'
import { limitOf, type Limit } from '../settings/plan_limits.ts'
import { below } from '../sight/roles.ts'

const MIB = 1024 * 1024

const storedBelow = statement(
  (p: Slots<{ root: number }>) => sql<{ bytes: number }>`
    select coalesce(sum(s.packages_size + s.artifacts_size), 0)::bigint as bytes
      from (values (${p.root}::bigint)) r (id), ${below(sql`r.id`)} d
      join projects p on p.namespace_id = d.id join project_storage s on s.project_id = p.id`,
)

/** A limit of the plan on the storage of a root namespace, in MiB, that an upload would break. */
export interface StorageExceeded {
  readonly limit: Extract<Limit, 'storage_size_limit' | 'enforcement_limit'>
  readonly mebibytes: number
}

/**
 * Whether `bytes` more may be stored in a project: its root namespace takes no upload once it holds `enforcement_limit`,
 * and never more than `storage_size_limit`. Packages and artifacts count.
 */
export async function storageExceeded(
  db: Db,
  place: { readonly traversal_ids: readonly number[] },
  bytes: number,
): Promise<StorageExceeded | undefined> {
  const enforced = await limitOf(db, place, 'enforcement_limit')
  const most = await limitOf(db, place, 'storage_size_limit')
  if (enforced === Infinity && most === Infinity) return undefined
  const stored = (await db.one(storedBelow, { root: place.traversal_ids[0] ?? 0 }))?.bytes ?? 0
  if (stored >= enforced * MIB) return { limit: 'enforcement_limit', mebibytes: enforced }
  return stored + bytes > most * MIB ? { limit: 'storage_size_limit', mebibytes: most } : undefined
}
