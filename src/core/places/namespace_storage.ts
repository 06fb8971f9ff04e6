import { sql } from 'kysely'
import type { Db } from '../../db/db.ts'
import { statement, type Slots } from '../../db/statement.ts'
import { limitsOf, type Limit } from '../settings/plan_limits.ts'
import { below } from '../sight/roles.ts'

const MIB = 1024 * 1024

const storedBelow = statement(
  (p: Slots<{ root: number }>) => sql<{ bytes: number }>`
    select coalesce(sum(s.packages_size + s.artifacts_size), 0)::bigint as bytes
      from (values (${p.root}::bigint)) r (id), ${below(sql`r.id`)} d
      join projects p on p.namespace_id = d.id join project_storage s on s.project_id = p.id`,
)

/** A limit of the plan on the storage of a root namespace, in MiB, that an upload meets. */
export interface StorageMet {
  readonly limit: Extract<Limit, 'storage_size_limit' | 'enforcement_limit' | 'notification_limit'>
  readonly mebibytes: number
  /** Whether the upload is refused; past `notification_limit` its sender is told. */
  readonly refuses: boolean
}

/**
 * The limit that `bytes` more meet in a project, if any: its root namespace takes no upload once it holds
 * `enforcement_limit`, and never more than `storage_size_limit`. Packages and artifacts count.
 */
export async function storageMet(
  db: Db,
  place: { readonly traversal_ids: readonly number[] },
  bytes: number,
): Promise<StorageMet | undefined> {
  const limitFor = await limitsOf(db, place)
  const enforced = limitFor('enforcement_limit')
  const most = limitFor('storage_size_limit')
  const noticed = limitFor('notification_limit')
  if (Math.min(enforced, most, noticed) === Infinity) return undefined
  const stored = (await db.one(storedBelow, { root: place.traversal_ids[0] ?? 0 }))?.bytes ?? 0
  if (stored >= enforced * MIB) return { limit: 'enforcement_limit', mebibytes: enforced, refuses: true }
  if (stored + bytes > most * MIB) return { limit: 'storage_size_limit', mebibytes: most, refuses: true }
  return stored + bytes > noticed * MIB
    ? { limit: 'notification_limit', mebibytes: noticed, refuses: false }
    : undefined
}
